package experiments

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress tells how far a run is: a bar that redraws itself on a terminal, a
// line now and then elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	name     string
	total    int
	resumed  int // groups that an earlier run had done
	start    time.Time
	last     time.Time
}

const quietFor = 10 * time.Second // between lines where there is no terminal

func newProgress(w io.Writer, terminal bool, name string, total, resumed int) *progress {
	now := time.Now()
	p := &progress{w: w, terminal: terminal, name: name, total: total, resumed: resumed, start: now, last: now}
	if resumed > 0 {
		fmt.Fprintf(w, "%s: resuming after %d of %d\n", name, resumed, total)
	}
	return p
}

func (p *progress) step(done int) {
	now := time.Now()
	eta := "?"
	if fresh := done - p.resumed; fresh > 0 {
		left := now.Sub(p.start) * time.Duration(p.total-done) / time.Duration(fresh)
		eta = left.Round(time.Second).String()
	}
	if p.terminal {
		const width = 30
		n := width * done / p.total
		fmt.Fprintf(p.w, "\r%-12s [%s%s] %d/%d  %s left \x1b[K", p.name,
			strings.Repeat("=", n), strings.Repeat(" ", width-n), done, p.total, eta)
		return
	}
	if now.Sub(p.last) >= quietFor {
		p.last = now
		fmt.Fprintf(p.w, "%s: %d of %d, %s left\n", p.name, done, p.total, eta)
	}
}

func (p *progress) end(done int, what string) {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	fmt.Fprintf(p.w, "%s: %s %d of %d in %s\n", p.name, what, done, p.total, time.Since(p.start).Round(100*time.Millisecond))
}
