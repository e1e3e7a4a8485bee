// SPDX-License-Identifier: Apache-2.0
/* completion: a script for a shell. It asks the program itself for the candidates (complete.c). */
#include "cli/cli.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

/* `sandmux __complete WORD…` says a candidate a line, what it is after a tab, and at last ":N", as kubectl's plugins do:
 * 2 no blank after it, 4 no names of files. */

/* COMP_WORDS is cut at ':' and '=' too; so the line is read anew, and what stands before the cut is taken off again. */
static const char bash[] =
	"_sandmux() {\n"
	"\tlocal line=${COMP_LINE:0:COMP_POINT} words out flags=0 last before reply IFS=$' \\t\\n'\n"
	"\tread -ra words <<<\"$line\"\n"
	"\t[[ $line == *[[:space:]] ]] && words+=('')\n"
	"\tlast=${words[${#words[@]}-1]}\n"
	"\tbefore=${last%\"${last##*[:=]}\"}\n"
	"\tIFS=$'\\n'\n"
	"\tout=($(\"${words[0]}\" __complete \"${words[@]:1}\" 2>/dev/null))\n"
	"\tCOMPREPLY=()\n"
	"\tfor reply in \"${out[@]}\"; do\n"
	"\t\tcase $reply in\n"
	"\t\t:[0-9]*) flags=${reply#:} ;;\n"
	"\t\t*) reply=${reply%%$'\\t'*}; COMPREPLY+=(\"${reply#\"$before\"}\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tif ((flags & 2)); then compopt -o nospace; fi\n"
	"\tif ! ((flags & 4)); then compopt -o default; fi\n"
	"}\n"
	"complete -F _sandmux sandmux kubectl-sandbox\n";

static const char zsh[] =
	"#compdef sandmux kubectl-sandbox\n"
	"_sandmux() {\n"
	"\tlocal -a out plain open\n"
	"\tlocal reply flags=0\n"
	"\tout=(\"${(@f)$(${words[1]} __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	"\tfor reply in $out; do\n"
	"\t\tif [[ $reply == :<-> ]]; then flags=${reply#:}; continue; fi\n"
	"\t\treply=\"${${reply//:/\\\\:}/$'\\t'/:}\"\n"
	"\t\tplain+=(\"$reply\")\n"
	"\tdone\n"
	"\tif ((flags & 2)); then _describe sandmux plain -S ''; else _describe sandmux plain; fi\n"
	"\tif ! ((flags & 4)); then _files; fi\n"
	"}\n"
	"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _sandmux \"$@\"; else compdef _sandmux sandmux kubectl-sandbox; fi\n";

static const char fish[] =
	"function __sandmux_complete\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l last (commandline -ct)\n"
	"\tset -l out ($words[1] __complete $words[2..-1] \"$last\" 2>/dev/null)\n"
	"\tset -l flags 0\n"
	"\tfor reply in $out\n"
	"\t\tif string match -qr '^:[0-9]+$' -- $reply\n"
	"\t\t\tset flags (string sub -s 2 -- $reply)\n"
	"\t\telse\n"
	"\t\t\techo $reply\n"
	"\t\tend\n"
	"\tend\n"
	"\tcontains $flags 4 6; or __fish_complete_path \"$last\"\n"
	"end\n"
	"complete -c sandmux -f -a '(__sandmux_complete)'\n"
	"complete -c kubectl-sandbox -f -a '(__sandmux_complete)'\n";

static int run_completion(struct cli *cli, int argc, char **argv)
{
	static const struct {
		const char *shell, *script;
	} scripts[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
	(void)argc;
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		if (strcmp(argv[0], scripts[i].shell) == 0) {
			fputs(scripts[i].script, stdout);
			return EXIT_STATUS_OK;
		}
	return cli_fail_usage(cli, "completion knows bash, zsh and fish, not '%s'", argv[0]);
}

const struct cli_verb cli_verb_completion = { "completion", "bash|zsh|fish",
	"a script for the shell's completion", 0, 1, 1, .run = run_completion,
	.needs_no_settings = true,
	.examples = "  source <(sandmux completion bash)\n"
		    "  sandmux completion zsh > ~/.zfunc/_sandmux\n"
		    "  sandmux completion fish > ~/.config/fish/completions/sandmux.fish\n" };
