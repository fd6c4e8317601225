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

	"filterlab/filters"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
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
	return []command{runCommand(), listCommand(), plotCommand(), sizeCommand()}
}

// errDiffers says that a run finished and found something wrong; it has been
// reported already.
var errDiffers = errors.New("some points failed or differ from theory")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, overview())
		return exitUsage
	}
	name := args[0]
	if name == "help" || name == "-h" || name == "--help" || name == "-help" {
		if len(args) > 1 {
			for _, c := range commands() {
				if c.name == args[1] {
					fmt.Fprint(stdout, c.help)
					return exitOK
				}
			}
		}
		fmt.Fprint(stdout, overview())
		return exitOK
	}
	for _, c := range commands() {
		if c.name != name {
			continue
		}
		err := c.run(ctx, args[1:], stdout, stderr)
		switch {
		case err == nil:
			return exitOK
		case errors.Is(err, flag.ErrHelp):
			fmt.Fprint(stdout, c.help)
			return exitOK
		}
		fmt.Fprintf(stderr, "filterlab %s: %v\n", name, err)
		switch {
		case ctx.Err() != nil:
			return exitInterrupted
		case errors.Is(err, errUsage), errors.Is(err, filters.ErrParam):
			return exitUsage
		}
		return exitFailed
	}
	fmt.Fprintf(stderr, "filterlab: unknown command %q; one of %s\n", name, strings.Join(names(), ", "))
	return exitUsage
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
	b.WriteString("filterlab measures approximate-membership filters and holds them against their formulas.\n\nUsage: filterlab COMMAND [arguments]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-30s %s\n", c.name+" "+c.args, c.short)
	}
	b.WriteString("  help [COMMAND]                 explain a command, with examples\n")
	b.WriteString("\nExit status: 0 done, 1 a point failed or differs from theory, 2 the command line was refused, 130 interrupted.\n")
	return b.String()
}

// errUsage marks errors of the command line.
var errUsage = errors.New("see filterlab help")

// parse reads flags and arguments in any order: the flag package alone would
// stop at the first argument and silently ignore every flag behind it.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	fs.SetOutput(io.Discard)
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, fmt.Errorf("%w (%w)", err, errUsage)
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// splitList splits at commas outside parentheses:
// "standard,cuckoo(f=12,b=4)" has two parts.
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
