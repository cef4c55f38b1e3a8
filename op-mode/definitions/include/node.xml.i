<!-- Completion of a node by its node-id or node-name. Only root may ask the daemon; who has no sudo
     gets no completion, rather than a question for a password in the middle of a line. -->
<completionHelp>
  <script>sudo -n ${vyos_completion_dir}/list_leon_nodes.py 2>/dev/null</script>
</completionHelp>
