<!-- Header fields and mark of the datagrams that LEON itself sends. -->
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
        #leaves <parameters ip>
      </children>
    </node>
    <node name="ipv6">
      <properties>
        <help>IPv6 header</help>
      </properties>
      <children>
        #leaves <parameters ipv6>
      </children>
    </node>
  </children>
</node>
