<!-- Internet lines of this site. -->
<tagNode name="line">
  <properties>
    <help>Internet line of this site, at most two, a change restarts the interface</help>
    <valueHelp>
      <format>txt</format>
      <description>Name of the line on this router</description>
    </valueHelp>
    <constraint>
      <regex>[a-zA-Z0-9._-]{1,15}</regex>
    </constraint>
    <constraintErrorMessage>Line name must have 1 to 15 letters, digits, dots, underscores or hyphens</constraintErrorMessage>
  </properties>
  <children>
    <leafNode name="address">
      <properties>
        <help>Address of the line, a change restarts the interface</help>
        <completionHelp>
          <script>${vyos_completion_dir}/list_local_ips.sh --both</script>
        </completionHelp>
        <valueHelp>
          <format>ipv4</format>
          <description>IPv4 address</description>
        </valueHelp>
        <valueHelp>
          <format>ipv6</format>
          <description>IPv6 address</description>
        </valueHelp>
        <constraint>
          <validator name="ip-address"/>
        </constraint>
        <constraintErrorMessage>Line address must be an IP address without prefix length</constraintErrorMessage>
      </properties>
    </leafNode>
    <leafNode name="interface">
      <properties>
        <help>Interface of the line, a change restarts the interface</help>
        <completionHelp>
          <script>${vyos_completion_dir}/list_interfaces</script>
        </completionHelp>
        <valueHelp>
          <format>interface</format>
          <description>Interface name</description>
        </valueHelp>
        #include <include/interface-name.xml.i>
      </properties>
    </leafNode>
  </children>
</tagNode>
