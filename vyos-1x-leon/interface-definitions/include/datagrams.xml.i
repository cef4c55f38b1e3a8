<!-- Header fields and mark of the datagrams that LEON itself sends. -->
<leafNode name="fwmark">
  <properties>
    <help>Mark of the datagrams of this interface, for policy routing and filters</help>
    <valueHelp>
      <format>u32:0-4294967295</format>
      <description>Mark, 0 for none</description>
    </valueHelp>
    <constraint>
      <validator name="numeric" argument="--range 0-4294967295"/>
    </constraint>
    <constraintErrorMessage>Mark must be between 0 and 4294967295</constraintErrorMessage>
  </properties>
  <defaultValue>0</defaultValue>
</leafNode>
<node name="parameters">
  <properties>
    <help>Header fields of the datagrams that LEON sends</help>
  </properties>
  <children>
    <node name="ip">
      <properties>
        <help>IPv4 header</help>
      </properties>
      <children>
        <leafNode name="df">
          <properties>
            <help>Do not fragment bit</help>
            <completionHelp>
              <list>set unset</list>
            </completionHelp>
            <valueHelp>
              <format>set</format>
              <description>Set, so that LEON measures and splits by itself</description>
            </valueHelp>
            <valueHelp>
              <format>unset</format>
              <description>Unset, so that routers may fragment</description>
            </valueHelp>
            <constraint>
              <regex>(set|unset)</regex>
            </constraint>
            <constraintErrorMessage>Do not fragment bit must be set or unset</constraintErrorMessage>
          </properties>
          <defaultValue>set</defaultValue>
        </leafNode>
        <leafNode name="tos">
          <properties>
            <help>Type of service (TOS): DSCP times 4</help>
            <valueHelp>
              <format>u32:0-252</format>
              <description>A multiple of 4</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-252"/>
            </constraint>
            <constraintErrorMessage>Type of service must be between 0 and 252</constraintErrorMessage>
          </properties>
          <defaultValue>0</defaultValue>
        </leafNode>
        <leafNode name="ttl">
          <properties>
            <help>Time to live (TTL)</help>
            <valueHelp>
              <format>u32:0-255</format>
              <description>Hops, 0 for what this router uses</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-255"/>
            </constraint>
            <constraintErrorMessage>Time to live must be between 0 and 255</constraintErrorMessage>
          </properties>
          <defaultValue>0</defaultValue>
        </leafNode>
      </children>
    </node>
    <node name="ipv6">
      <properties>
        <help>IPv6 header</help>
      </properties>
      <children>
        <leafNode name="hoplimit">
          <properties>
            <help>Hop limit</help>
            <valueHelp>
              <format>u32:0-255</format>
              <description>Hops, 0 for what this router uses</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-255"/>
            </constraint>
            <constraintErrorMessage>Hop limit must be between 0 and 255</constraintErrorMessage>
          </properties>
          <defaultValue>0</defaultValue>
        </leafNode>
        <leafNode name="tclass">
          <properties>
            <help>Traffic class: DSCP times 4</help>
            <valueHelp>
              <format>u32:0-252</format>
              <description>A multiple of 4</description>
            </valueHelp>
            <constraint>
              <validator name="numeric" argument="--range 0-252"/>
            </constraint>
            <constraintErrorMessage>Traffic class must be between 0 and 252</constraintErrorMessage>
          </properties>
          <defaultValue>0</defaultValue>
        </leafNode>
      </children>
    </node>
  </children>
</node>
