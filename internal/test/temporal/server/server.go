// Package server is a Temporal server in this process. It keeps everything in one file of SQLite, so that it can be started again.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	plugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// Namespace is the one that the server has.
const Namespace = "default"

const (
	local = "127.0.0.1"
	only  = "active" // the name of the cluster
)

// Options are how a server is started.
type Options struct {
	File string // where it keeps everything; it is made if it is missing
	Port int    // at which clients connect, on this machine alone
	// Attributes are the search attributes of the namespace. They are those of the first start.
	Attributes map[string]enums.IndexedValueType
	// LongHistory is after how many events the server suggests to continue a workflow as new; 0: the server's default.
	LongHistory int
}

// Server is a server that runs.
type Server struct{ running temporal.Server }

// Start starts a server. Clients may have to wait a moment before it answers.
func Start(o Options) (*Server, error) {
	database := config.SQL{
		PluginName: plugin.PluginName, DatabaseName: o.File,
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal", "busy_timeout": "10000"},
	}
	if _, err := os.Stat(o.File); errors.Is(err, fs.ErrNotExist) {
		if err := sqlite.SetupSchema(&database); err != nil {
			return nil, err
		}
	}
	namespace, err := sqlite.NewNamespaceConfig(only, Namespace, false, o.Attributes)
	if err != nil {
		return nil, err
	}
	if err := sqlite.CreateNamespaces(&database, namespace); err != nil {
		return nil, err
	}
	all, hosts, err := configOf(o.Port, &database)
	if err != nil {
		return nil, err
	}
	settings := dynamicconfig.StaticClient{dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true}
	if o.LongHistory > 0 {
		settings[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = o.LongHistory
	}
	running, err := temporal.NewServer(temporal.WithConfig(all), temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(log.NewNoopLogger()), temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithDynamicConfigClient(settings), temporal.WithStaticHosts(hosts)) // it looks for no others, least of all for the one before it
	if err != nil {
		return nil, err
	}
	return &Server{running}, running.Start()
}

// Stop stops the server.
func (s *Server) Stop() error { return s.running.Stop() }

func configOf(port int, database *config.SQL) (*config.Config, map[primitives.ServiceName]static.Hosts, error) {
	hosts := make(map[primitives.ServiceName]static.Hosts)
	all := &config.Config{
		Persistence: config.Persistence{
			DefaultStore: plugin.PluginName, VisibilityStore: plugin.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{plugin.PluginName: {SQL: database}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: only, CurrentClusterName: only,
			ClusterInformation: map[string]cluster.ClusterInformation{
				only: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address(port)},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            make(map[string]config.Service),
		Archival: config.Archival{
			History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient: config.PublicClient{HostPort: address(port)},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	for _, name := range temporal.DefaultServices {
		service := config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: local}}
		if name != string(primitives.FrontendService) {
			var err error
			if service.RPC.GRPCPort, err = FreePort(); err != nil {
				return nil, nil, err
			}
		}
		all.Services[name] = service
		hosts[primitives.ServiceName(name)] = static.SingleLocalHost(address(service.RPC.GRPCPort))
	}
	return all, hosts, nil
}

func address(port int) string { return net.JoinHostPort(local, strconv.Itoa(port)) }

// Address returns where the server of a port listens.
func Address(port int) string { return address(port) }

// FreePort returns a port that nobody listens at.
func FreePort() (int, error) {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address(0))
	if err != nil {
		return 0, fmt.Errorf("no port is free: %w", err)
	}
	tcp, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("%s is no port", listener.Addr())
	}
	return tcp.Port, listener.Close()
}
