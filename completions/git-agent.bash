# shellcheck shell=bash
# Completion in bash for git agent-turn, git agent-handoff and git agent-fork.
#
# It is installed under the name of each program in share/bash-completion/completions.
# git's own completion has it loaded from there for "git agent-turn", and calls the function
# that is named for the command, with the words and the cursor in words, cword and cur.

# __git_agent completes the command line of one program; the program itself knows how.
__git_agent ()
{
	# shellcheck disable=SC2154 # git's completion sets cur, words, cword and __git_cmd_idx
	local program=$1 typed=$cur answer line list='' files=''
	# shellcheck disable=SC2154
	local -a before=("${words[@]:__git_cmd_idx+1:cword-__git_cmd_idx-1}")

	if [[ $cur == --*=* ]]; then
		before+=("${cur%%=*}")
		typed=${cur#*=}
	fi

	answer=$(__git "$program" "${before[@]}" "$typed" --generate-bash-completion 2>/dev/null)
	while IFS= read -r line; do
		case "$line" in
		$'\t'*) files=yes ;; # names of files fit
		?*) list+=${line%%$'\t'*}$'\n' ;;
		esac
	done <<<"$answer"
	[[ $files ]] && return # with no answer, bash completes them itself
	compopt +o default +o bashdefault 2>/dev/null
	compopt -o nosort 2>/dev/null # bash 4.4
	__gitcomp_nl "$list" '' "$typed"
}

_git_agent_turn () { __git_agent agent-turn; }
_git_agent_handoff () { __git_agent agent-handoff; }
_git_agent_fork () { __git_agent agent-fork; }

# "git-agent-turn" typed with a dash comes here first, perhaps before git's completion was loaded.
if ! declare -F __git_complete >/dev/null; then
	if declare -F _comp_load >/dev/null; then # bash-completion 2.12
		_comp_load git
	elif declare -F _completion_loader >/dev/null; then
		_completion_loader git
	fi
fi
if declare -F __git_complete >/dev/null; then
	__git_complete git-agent-turn _git_agent_turn
	__git_complete git-agent-handoff _git_agent_handoff
	__git_complete git-agent-fork _git_agent_fork
fi
