<!-- Export of the flows of the local segment by IPFIX. -->
<node name="flow-export">
  <properties>
    <help>Export flows with path, delay and loss to an IPFIX collector</help>
  </properties>
  <children>
    <leafNode name="collector">
      <properties>
        <help>Address of the collector</help>
        <valueHelp>
          <format>ipv4</format>
          <description>IPv4 address of the collector</description>
        </valueHelp>
        <valueHelp>
          <format>ipv6</format>
          <description>IPv6 address of the collector</description>
        </valueHelp>
        <constraint>
          <validator name="ip-address"/>
        </constraint>
        <constraintErrorMessage>Collector must be an IP address without prefix length</constraintErrorMessage>
      </properties>
    </leafNode>
    #leaves <flow-export>
  </children>
</node>
