<!-- Where Prometheus fetches the metrics of this interface; off unless set. -->
<node name="metrics">
  <properties>
    <help>Metrics for Prometheus over HTTP, read-only</help>
  </properties>
  <children>
    <leafNode name="listen-address">
      <properties>
        <help>Local IP address to listen on</help>
        <completionHelp>
          <script>${vyos_completion_dir}/list_local_ips.sh --both</script>
        </completionHelp>
        <valueHelp>
          <format>ipv4</format>
          <description>IPv4 address to listen for incoming connections</description>
        </valueHelp>
        <valueHelp>
          <format>ipv6</format>
          <description>IPv6 address to listen for incoming connections</description>
        </valueHelp>
        <constraint>
          <validator name="ip-address"/>
        </constraint>
        <constraintErrorMessage>Listen address must be an IP address without prefix length</constraintErrorMessage>
      </properties>
    </leafNode>
    <leafNode name="port">
      <properties>
        <help>TCP port to listen on</help>
        <valueHelp>
          <format>u32:1-65535</format>
          <description>Numeric IP port</description>
        </valueHelp>
        <constraint>
          <validator name="numeric" argument="--range 1-65535"/>
        </constraint>
        <constraintErrorMessage>Port number must be in range 1 to 65535</constraintErrorMessage>
      </properties>
      <defaultValue>5366</defaultValue>
    </leafNode>
  </children>
</node>
