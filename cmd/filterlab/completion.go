package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"filterlab/experiments"
	"filterlab/experiments/papers"
	"filterlab/experiments/workload"
	"filterlab/filters"
	"filterlab/filters/catalog"
	"filterlab/hashing"
)

func completionCommand() command {
	return command{
		name: "completion", args: "SHELL", short: "write what a shell needs to complete this command",
		help: `Usage: filterlab completion bash|zsh|fish

Writes a script that lets the Tab key complete commands, flags, experiments, filters, hashes,
key sets, profiles and files. It is made of the tables and help texts of this program.

  bash   in ~/.bashrc:                  source <(filterlab completion bash)
  zsh    in ~/.zshrc, after compinit:   source <(filterlab completion zsh)
  fish   once:   filterlab completion fish > ~/.config/fish/completions/filterlab.fish

Examples:
  filterlab completion bash
  filterlab completion zsh
  filterlab completion fish
`,
		run: func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
			rest, err := newFlags("completion").parse(args)
			if err != nil {
				return err
			}
			if len(rest) != 1 {
				return usagef("%d arguments: want one of %s", len(rest), strings.Join(shells(), ", "))
			}
			var script string
			switch rest[0] {
			case "bash":
				script = bashCompletion()
			case "zsh":
				script = zshCompletion()
			case "fish":
				script = fishCompletion()
			default:
				return usageError{filters.Refuse("shell", rest[0], filters.OneOf(rest[0], shells()))}
			}
			_, err = io.WriteString(stdout, script)
			return err
		},
	}
}

func shells() []string { return []string{"bash", "zsh", "fish"} }

// option is a flag as the help text of its command explains it.
type option struct {
	name string
	// value is what stands behind the flag: LIST, DIR, quick|default|full. It is empty
	// for a switch.
	value string
}

var optionText = regexp.MustCompile(`--([a-z][a-z0-9-]*)(?:[ =]([A-Z]+\b|[a-z]+(?:\|[a-z]+)+))?`)

// options are the flags of a command. A test holds help texts to the flags that
// there really are.
func (c command) options() []option {
	explained, _, _ := strings.Cut(c.help, "\nExample")
	var all []option
	for _, m := range optionText.FindAllStringSubmatch(explained, -1) {
		at := slices.IndexFunc(all, func(o option) bool { return o.name == m[1] })
		switch {
		case at < 0:
			all = append(all, option{m[1], m[2]})
		case all[at].value == "":
			all[at].value = m[2]
		}
	}
	return all
}

// values are the words that may stand behind a flag, nil where it takes a number or a
// file.
func (o option) values() []string {
	var words []string
	switch o.name {
	case "filters", "filter":
		for _, f := range catalog.Families() {
			words = append(words, f.Name)
		}
	case "hashes", "hash":
		for _, h := range hashing.All() {
			words = append(words, h.Name)
		}
	case "keysets":
		for _, k := range workload.All() {
			words = append(words, k.Name)
		}
		words = append(words, experiments.Zipf)
	case "profile":
		for _, p := range experiments.Profiles() {
			words = append(words, p.Name)
		}
	default:
		if strings.Contains(o.value, "|") {
			words = strings.Split(o.value, "|")
		}
	}
	return words
}

// files reports whether a file or a folder stands behind the flag.
func (o option) files() bool { return o.value == "FILE" || o.value == "DIR" }

// arguments are the words that may stand behind a command: nil where they are files,
// or none.
func (c command) arguments() []string {
	var words []string
	switch {
	case c.name == "paper":
		for _, p := range papers.All() {
			words = append(words, p.Name)
		}
	case c.name == "completion":
		words = shells()
	case strings.Contains(c.args, "EXPERIMENT"):
		for _, e := range experiments.All() {
			words = append(words, e.Name)
		}
	}
	return words
}

// helpCommand stands for "help", which is none of the commands.
func helpCommand() command {
	return command{name: "help", short: "explain a command, with examples"}
}

// vocabulary is the commands with their words, for all shells.
func vocabulary() (all []command, words map[string][]string) {
	all = append(commands(), helpCommand())
	words = map[string][]string{}
	for _, c := range all {
		words[c.name] = c.arguments()
	}
	words["help"] = names()
	return all, words
}

// flagValues groups the values of the flags of all commands by what they are.
func flagValues() (all []option) {
	for _, c := range commands() {
		for _, o := range c.options() {
			if !slices.ContainsFunc(all, func(have option) bool { return have.name == o.name }) && (o.value != "" || o.values() != nil) {
				all = append(all, o)
			}
		}
	}
	return all
}

// cases writes the branches of the shells' case statements: what may stand behind a
// flag, and behind a command. take is the statement that sets the words, file the
// one that asks for files, none the one that has nothing to offer.
func cases(take, file, none string) (behindFlag, behindCommand string) {
	var f, c strings.Builder
	for _, o := range flagValues() {
		what := none
		switch {
		case o.values() != nil:
			what = fmt.Sprintf(take, strings.Join(o.values(), " "))
		case o.files():
			what = file
		}
		fmt.Fprintf(&f, "\t--%s) %s ;;\n", o.name, what)
	}
	all, words := vocabulary()
	for _, k := range all {
		list := slices.Clone(words[k.name])
		for _, o := range k.options() {
			list = append(list, "--"+o.name)
		}
		fmt.Fprintf(&c, "\t%s) %s ;;\n", k.name, fmt.Sprintf(take, strings.Join(list, " ")))
	}
	return f.String(), c.String()
}

func bashCompletion() string {
	behindFlag, behindCommand := cases(`words="%s"`, `COMPREPLY=($(compgen -f -- "$cur")); return`, `return`)
	return `# bash completion for filterlab, made by "filterlab completion bash"
_filterlab() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= before=
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "` + strings.Join(names(), " ") + `" -- "$cur"))
		return
	fi
	case $prev in
` + behindFlag + `	*) case ${COMP_WORDS[1]} in
` + behindCommand + `	esac
	if [[ $cur != -* ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
		((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "$cur"))
		return
	fi ;;
	esac
	# Lists are completed behind their last comma.
	if [[ $cur == *,* ]]; then
		before=${cur%,*},
		cur=${cur##*,}
	fi
	COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
}
complete -o filenames -F _filterlab filterlab
`
}

func zshCompletion() string {
	behindFlag, behindCommand := cases(`list=(%s)`, `_files; return`, `return`)
	return `#compdef filterlab
# zsh completion for filterlab, made by "filterlab completion zsh"
_filterlab() {
	local -a list
	if ((CURRENT == 2)); then
		compadd -- ` + strings.Join(names(), " ") + `
		return
	fi
	case $words[CURRENT-1] in
` + behindFlag + `	*) case $words[2] in
` + behindCommand + `	esac
	if [[ $PREFIX != -* ]]; then
		compadd -- ${list:#--*} || _files
		return
	fi ;;
	esac
	compset -P '*,' # lists are completed behind their last comma
	compadd -- $list
}
compdef _filterlab filterlab
`
}

func fishCompletion() string {
	var b strings.Builder
	b.WriteString("# fish completion for filterlab, made by \"filterlab completion fish\"\ncomplete -c filterlab -f\n")
	all, words := vocabulary()
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c filterlab -n __fish_use_subcommand -a %s -d '%s'\n", c.name, strings.ReplaceAll(c.short, "'", `\'`))
	}
	for _, c := range all {
		when := fmt.Sprintf("complete -c filterlab -n '__fish_seen_subcommand_from %s'", c.name)
		switch list := words[c.name]; {
		case len(list) > 0:
			fmt.Fprintf(&b, "%s -a '%s'\n", when, strings.Join(list, " "))
		case c.args != "":
			fmt.Fprintf(&b, "%s -F\n", when)
		}
		for _, o := range c.options() {
			fmt.Fprintf(&b, "%s -l %s", when, o.name)
			switch {
			case o.values() != nil && o.value == "LIST":
				fmt.Fprintf(&b, " -x -a '(__fish_append , %s)'", strings.Join(o.values(), " "))
			case o.values() != nil:
				fmt.Fprintf(&b, " -x -a '%s'", strings.Join(o.values(), " "))
			case o.files():
				b.WriteString(" -r -F")
			case o.value != "":
				b.WriteString(" -x")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
