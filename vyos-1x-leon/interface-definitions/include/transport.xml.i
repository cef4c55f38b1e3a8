<!-- Links over TLS, for networks without UDP. -->
<node name="transport">
  <properties>
    <help>Transports of links beside UDP</help>
  </properties>
  <children>
    <node name="tls">
      <properties>
        <help>Links over TLS and TCP while UDP gets no answer, a change restarts the interface</help>
      </properties>
      <children>
        #leaves <transport tls>
        <leafNode name="proxy">
          <properties>
            <help>HTTP proxy for TLS connections to peers</help>
            <valueHelp>
              <format>url</format>
              <description>http://host:port or http://user:password@host:port</description>
            </valueHelp>
            <constraint>
              <regex>http://[!-~]{1,248}</regex>
            </constraint>
            <constraintErrorMessage>Proxy must be a URL such as http://proxy.example.net:3128</constraintErrorMessage>
          </properties>
        </leafNode>
      </children>
    </node>
  </children>
</node>
