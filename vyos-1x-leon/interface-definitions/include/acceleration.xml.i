<!-- Live TCP connections that leon-accel takes over. -->
<node name="acceleration">
  <properties>
    <help>Intercept live TCP connections with distant hosts at both nodes</help>
  </properties>
  <children>
    <node name="compression">
      <properties>
        <help>Compression between nodes</help>
      </properties>
      <children>
        #leaves <acceleration compression>
      </children>
    </node>
    <node name="exclude">
      <properties>
        <help>Connections that are never intercepted</help>
      </properties>
      <children>
        <leafNode name="port">
          <properties>
            <help>No connection with this port at either end</help>
            #include <include/acceleration-port.xml.i>
            <multi/>
          </properties>
        </leafNode>
        <leafNode name="prefix">
          <properties>
            <help>No connection with a host in this prefix</help>
            #include <include/prefix.xml.i>
            <multi/>
          </properties>
        </leafNode>
      </children>
    </node>
    <node name="include">
      <properties>
        <help>Connections that may be intercepted, all if not set</help>
      </properties>
      <children>
        <leafNode name="port">
          <properties>
            <help>Only connections with this port at either end</help>
            #include <include/acceleration-port.xml.i>
            <multi/>
          </properties>
        </leafNode>
        <leafNode name="prefix">
          <properties>
            <help>Only connections with a host in this prefix</help>
            #include <include/prefix.xml.i>
            <multi/>
          </properties>
        </leafNode>
      </children>
    </node>
    #leaves <acceleration>
  </children>
</node>
