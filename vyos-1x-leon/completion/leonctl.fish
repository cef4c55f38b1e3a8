# SPDX-License-Identifier: GPL-2.0-or-later
#
# fish completion for leonctl. The commands come from the help of leonctl, and the nodes from the
# daemon. Other sites choose node-names, so names with special characters are left out.

function __leonctl_commands
    leonctl --help 2>/dev/null | sed -n 's/^  \([a-z][a-z -]*[a-z]\).*/\1/p' | sed 's/  .*//'
end

# Prints the words of the command before the cursor.
function __leonctl_given
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if contains -- $word -i --interface --socket -w --address --bridge --bytes --expires --name --node --seconds --snap --source-address --source-interface --tls-port --uses --write
            set skip 1
        else if string match -qv -- '-*' $word; and test $word != help
            echo $word
        end
    end
end

# Sends a request to the daemon of the interface or socket before the cursor.
function __leonctl_ask
    set -l options
    set -l before ''
    for word in (commandline -opc)[2..-1]
        if contains -- $before -i --interface --socket
            set -a options $before $word
        end
        set before $word
    end
    leonctl $options --json $argv 2>/dev/null
end

function __leonctl_next
    set -l given (string join ' ' (__leonctl_given))
    for line in (__leonctl_commands)
        if test -z "$given"
            string split -f1 ' ' -- $line
        else if string match -q -- "$given *" $line
            string split -f1 ' ' -- (string sub -s (math (string length -- $given) + 2) -- $line)
        end
    end | sort -u
    if contains -- "$given" 'explain path' trace ping 'reset node'
        __leonctl_ask show nodes | string match -rag '"(?:node_id|name)": ?"([A-Za-z0-9][A-Za-z0-9._-]*)"'
    end
    if contains -- "$given" 'reset invitation'
        __leonctl_ask show invitations | string match -rag '"invitation": ?"([A-Za-z0-9][A-Za-z0-9._-]*)"'
    end
end

complete -c leonctl -f -a '(__leonctl_next)'
complete -c leonctl -s i -l interface -x -a '(string replace -r ".*/(.*)\.sock" "\$1" /run/leon/*.sock)' -d 'overlay interface'
complete -c leonctl -s j -l json -d 'print the answer of the daemon'
complete -c leonctl -l socket -r -F -d 'control socket'
set -l makes '__fish_seen_subcommand_from init join'
complete -c leonctl -n $makes -l address -x -d 'address with its length, such as 10.99.0.1/24'
complete -c leonctl -n $makes -l bridge -x -d 'bridge that the interface joins'
complete -c leonctl -n $makes -l name -x -d 'node-name (default: host name)'
complete -c leonctl -n $makes -l source-address -x -d 'local address for sending'
complete -c leonctl -n $makes -l source-interface -x -d 'interface for sending'
complete -c leonctl -n '__fish_seen_subcommand_from join' -l tls-port -x -d 'TCP port of members, if UDP is blocked'
complete -c leonctl -n $makes -l print -d 'print the configuration only'
complete -c leonctl -n '__fish_seen_subcommand_from invite' -l expires -x -a '1h 24h 7d never' -d 'validity of the token'
complete -c leonctl -n '__fish_seen_subcommand_from invite' -l uses -x -d 'number of machines for the token'
complete -c leonctl -n '__fish_seen_subcommand_from invite' -l with-secret -d 'a token that contains the secret'
set -l captures '__fish_seen_subcommand_from capture'
complete -c leonctl -n $captures -s w -l write -r -F -d 'pcapng file, or - for standard output'
complete -c leonctl -n $captures -l seconds -x -d 'time limit'
complete -c leonctl -n $captures -l bytes -x -d 'limit of stored bytes at each node'
complete -c leonctl -n $captures -l snap -x -d 'bytes stored of each frame'
complete -c leonctl -n $captures -l node -x -d 'node that captures'
complete -c leonctl -n '__fish_seen_subcommand_from leave' -l yes -d 'do not ask'
complete -c leonctl -l version -d 'print the version'
complete -c leonctl -s h -l help -d 'print the help of the command'
