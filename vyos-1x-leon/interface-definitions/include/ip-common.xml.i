<!-- Routing parameters that IPv4 and IPv6 share. -->
<leafNode name="adjust-mss">
  <properties>
    <help>TCP Maximum Segment Size (MSS) of connections routed through this interface</help>
    <completionHelp>
      <list>clamp-mss-to-pmtu</list>
    </completionHelp>
    <valueHelp>
      <format>clamp-mss-to-pmtu</format>
      <description>Follow the path MTU</description>
    </valueHelp>
    <valueHelp>
      <format>u32:536-65535</format>
      <description>Maximum segment size in bytes</description>
    </valueHelp>
    <constraint>
      <validator name="numeric" argument="--range 536-65535"/>
      <regex>(clamp-mss-to-pmtu)</regex>
    </constraint>
    <constraintErrorMessage>MSS must be clamp-mss-to-pmtu or between 536 and 65535</constraintErrorMessage>
  </properties>
</leafNode>
<leafNode name="disable-forwarding">
  <properties>
    <help>Disable forwarding of packets that arrive at this interface</help>
    <valueless/>
  </properties>
</leafNode>
<leafNode name="source-validation">
  <properties>
    <help>Validation of source addresses by the reverse path (RFC3704)</help>
    <completionHelp>
      <list>strict loose disable</list>
    </completionHelp>
    <valueHelp>
      <format>strict</format>
      <description>Accept a source that is routed back through this interface</description>
    </valueHelp>
    <valueHelp>
      <format>loose</format>
      <description>Accept a source that is routed back through any interface</description>
    </valueHelp>
    <valueHelp>
      <format>disable</format>
      <description>Accept every source</description>
    </valueHelp>
    <constraint>
      <regex>(strict|loose|disable)</regex>
    </constraint>
    <constraintErrorMessage>Source validation must be strict, loose or disable</constraintErrorMessage>
  </properties>
</leafNode>
