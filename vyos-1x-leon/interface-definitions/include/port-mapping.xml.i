<!-- Mapping of the UDP port at a gateway with NAT. -->
<node name="port-mapping">
  <properties>
    <help>Map the UDP port at the gateway by NAT-PMP or UPnP, which passes datagrams of any host</help>
  </properties>
  <children>
    #leaves <port-mapping>
  </children>
</node>
