// Command filterlab measures approximate-membership filters and holds them
// against their formulas. Run "filterlab help".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"filterlab/experiments/units"
	"filterlab/filters"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first Ctrl-C asks for an orderly end; a second one must not wait for it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // a point failed, or a measured rate differs from theory
	exitUsage       = 2   // the command line was refused
	exitInterrupted = 130 // stopped by Ctrl-C; the run can be resumed
)

// command is one subcommand. Only data goes to stdout; progress, warnings and
// errors go to stderr.
type command struct {
	name, args, short string
	help              string
	run               func(ctx context.Context, args []string, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		runCommand(),
		listCommand(),
		plotCommand(),
		verifyCommand(),
		claimsCommand(),
		paperCommand(),
		reportCommand(),
		compareCommand(),
		sizeCommand(),
		chooseCommand(),
		calibrateCommand(),
		buildCommand(),
		queryCommand(),
		infoCommand(),
		mergeCommand(),
		diffCommand(),
		skylineCommand(),
		completionCommand(),
	}
}

// errDiffers says that a run finished and found something wrong; it has been
// reported already.
var errDiffers = errors.New("some points failed or differ from theory")

// usageError is a command line that was refused before anything ran.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef is fmt.Errorf for a refused command line.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// isUsage reports whether err is about what was typed. Numbers and parameters out
// of range come from the command line alone: those that a sweep runs into become
// rows, not errors.
func isUsage(err error) bool {
	var usage usageError
	var number *units.Error
	var file fileError
	return !errors.As(err, &file) && (errors.As(err, &usage) || errors.As(err, &number) || errors.Is(err, filters.ErrParam))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return exitUsage
	}
	name := args[0]
	switch name {
	case "help", "-h", "-help", "--help":
		if len(args) == 1 {
			return explain(stdout, stderr, overview())
		}
		if c, ok := find(args[1]); ok {
			return explain(stdout, stderr, c.help)
		}
		name = args[1]
	}
	c, ok := find(name)
	if !ok {
		fmt.Fprintf(stderr, "filterlab: command %q: want %s\n", name, filters.OneOf(name, names()))
		return exitUsage
	}
	return execute(ctx, c, args[1:], stdout, stderr)
}

// execute runs one command and turns its error into a message and an exit status.
func execute(ctx context.Context, c command, args []string, stdout, stderr io.Writer) int {
	err := c.run(ctx, args, stdout, stderr)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		return explain(stdout, stderr, c.help)
	case errors.Is(err, errNo):
		return exitFailed // an answer, printed already
	}
	see := ""
	if isUsage(err) {
		see = fmt.Sprintf(" (see \"filterlab help %s\")", c.name)
	}
	fmt.Fprintf(stderr, "filterlab %s: %v%s\n", c.name, err, see)
	var trouble troubleError
	switch {
	case isUsage(err):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, &trouble):
		return exitUsage
	}
	return exitFailed
}

// explain prints a help text, which was asked for and so is data.
func explain(stdout, stderr io.Writer, text string) int {
	if _, err := io.WriteString(stdout, text); err != nil {
		fmt.Fprintf(stderr, "filterlab: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// find finds a command.
func find(name string) (command, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

func names() []string {
	var out []string
	for _, c := range commands() {
		out = append(out, c.name)
	}
	return append(out, "help")
}

func overview() string {
	var b strings.Builder
	b.WriteString(`filterlab measures approximate-membership filters and holds them against their formulas.

Usage: filterlab COMMAND [arguments]

`)
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-24s %s\n", strings.TrimSpace(c.name+" "+c.args), c.short)
	}
	b.WriteString(`  help [COMMAND]           explain a command, with examples

Start with:
  filterlab run --profile quick --out /tmp/results
  filterlab size --n 1M --p 1%

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 a point failed or
differs from theory, 2 the command line was refused, 130 interrupted.
`)
	return b.String()
}

// flags are the flags of one command. All of them are texts or switches: numbers
// are read by package units, so that every one may be typed in every form.
type flags struct {
	set  *flag.FlagSet
	text map[string]*text
}

// text is the value of a flag. Giving it twice is refused: of two values one
// would be ignored in silence.
type text struct {
	value string
	given bool
}

func (t *text) String() string { return t.value }

func (t *text) Set(s string) error {
	if t.given {
		return fmt.Errorf("it is given twice, and was %q", t.value)
	}
	t.value, t.given = s, true
	return nil
}

func newFlags(command string, names ...string) *flags {
	f := &flags{set: flag.NewFlagSet(command, flag.ContinueOnError), text: map[string]*text{}}
	f.set.SetOutput(io.Discard)
	for _, name := range names {
		f.text[name] = &text{}
		f.set.Var(f.text[name], name, "")
	}
	return f
}

// get is the value of a flag, or the default where it was not given. A flag that
// was given without a value (--n "$UNSET") is refused.
func (f *flags) get(name, otherwise string) (string, error) {
	t := f.text[name]
	switch {
	case !t.given:
		return otherwise, nil
	case strings.TrimSpace(t.value) == "":
		return "", usagef("--%s: the value is empty", name)
	}
	return t.value, nil
}

// list is the value of a flag, split at commas outside parentheses:
// "standard,cuckoo(f=12,b=4)" has two parts. It is nil where the flag was not
// given.
func (f *flags) list(name string) ([]string, error) {
	value, err := f.get(name, "")
	if err != nil || value == "" {
		return nil, err
	}
	parts := splitList(value)
	for i, p := range parts {
		if parts[i] = strings.TrimSpace(p); parts[i] == "" {
			return nil, usagef("--%s %q: value %d of %d is empty", name, value, i+1, len(parts))
		}
	}
	return parts, nil
}

// parse reads flags and arguments in any order: the flag package alone would
// stop at the first argument and silently ignore every flag behind it.
func (f *flags) parse(args []string) (rest []string, err error) {
	for {
		if err := f.set.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
				return nil, f.unknown(name)
			}
			return nil, usageError{err}
		}
		if f.set.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, f.set.Arg(0))
		args = f.set.Args()[1:]
	}
}

// unknown refuses a flag that the command does not have.
func (f *flags) unknown(name string) error {
	var known []string
	f.set.VisitAll(func(have *flag.Flag) { known = append(known, "--"+have.Name) })
	accepted := "none"
	if len(known) > 0 {
		accepted = filters.OneOf("--"+name, known)
	}
	return usagef("flag provided but not defined: -%s: want %s", name, accepted)
}

func splitList(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}
