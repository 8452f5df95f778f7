# Completion in fish for git agent-turn, git agent-handoff and git agent-fork.
#
# It is installed in share/fish/vendor_conf.d, which fish reads at its start:
# completions of git itself are not looked for under the name of one of its commands.

# __git_agent_at prints where in the command line git's command is, if it is the program.
function __git_agent_at -a program
    set -l words (commandline -opc)
    if test "$words[1]" = git-$program
        echo 1
        return
    end
    set -l at 2
    while set -q words[$at]
        switch $words[$at]
            case -C -c --git-dir --work-tree --namespace --config-env
                set at (math $at + 2)
            case '-*'
                set at (math $at + 1)
            case $program
                echo $at
                return
            case '*'
                return 1
        end
    end
    return 1
end

# __git_agent_complete proposes what may follow; the program itself knows how.
function __git_agent_complete -a program
    set -l words (commandline -opc)
    set -l at (__git_agent_at $program)
    or return
    set -l git git # with its own options
    if test $at -gt 2
        set -a git $words[2..(math $at - 1)]
    end
    set -l before $words[(math $at + 1)..-1]
    set -l current (commandline -ct)
    set -l prefix
    set -l typed $current
    switch "$current"
        case '--*=*'
            set -a before (string split -m 1 = -- $current)[1]
            set prefix (string split -m 1 = -- $current)[1]=
            set typed (string split -m 1 = -- $current)[2]
    end
    for line in (command $git $program $before "$typed" --generate-bash-completion 2>/dev/null)
        switch $line
            case \t'*' # names of files fit
                __fish_complete_path $current
            case '*'
                printf '%s%s\n' $prefix $line
        end
    end
end

for program in agent-turn agent-handoff agent-fork
    complete -c git -k -f -n "__git_agent_at $program" -a "(__git_agent_complete $program)"
    complete -c git-$program -k -f -a "(__git_agent_complete $program)"
end
