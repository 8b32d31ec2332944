// Package server is a Temporal server in this process. It keeps everything in one file of SQLite, so that it can be started again.
package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	"go.temporal.io/server/common/membership/static"
	plugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

// Namespace is the one that the server has.
const Namespace = "default"

const (
	anywhere = "127.0.0.1:0" // on this machine alone, at a port that the system chooses
	only     = "active"      // the name of the cluster
)

// patience is for how long the server may take to start its services. Its own 15 s are too short for a machine that is busy.
const patience = 10 * time.Minute

// Options are how a server is started.
type Options struct {
	File string // where it keeps everything; it is made if it is missing
	// Attributes are the search attributes of the namespace. They are those of the first start.
	Attributes map[string]enums.IndexedValueType
	// LongHistory is after how many events the server suggests to continue a workflow as new; 0: the server's default.
	LongHistory int
}

// Server is a server that runs.
type Server struct {
	Address string // at which clients connect, on this machine alone

	running temporal.Server
}

// Start starts a server, at other ports than the last time. Clients may have to wait a moment before it answers.
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
	for {
		s, err := start(o, &database)
		if !errors.Is(err, errTaken) {
			return s, err
		}
	}
}

// errTaken reports that another process has begun to listen at a port of the server before the server has.
var errTaken = errors.New("a port is taken")

// start starts a server at ports that are free now.
func start(o Options, database *config.SQL) (*Server, error) {
	addresses, err := free()
	if err != nil {
		return nil, err
	}
	all, hosts := configOf(addresses, database)
	settings := dynamicconfig.StaticClient{dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true}
	if o.LongHistory > 0 {
		settings[dynamicconfig.HistoryCountSuggestContinueAsNew.Key()] = o.LongHistory
	}
	logger := &lastWords{Logger: log.NewNoopLogger()}
	s, err := &Server{Address: addresses[primitives.FrontendService].String()}, errors.New("the server has ended itself")
	ended := make(chan struct{})
	go func() { // which the server's last words end
		defer close(ended)
		s.running, err = temporal.NewServer(temporal.WithConfig(all), temporal.ForServices(temporal.DefaultServices),
			temporal.WithLogger(logger), temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
			temporal.WithDynamicConfigClient(settings), temporal.WithStaticHosts(hosts)) // it looks for no others, least of all for the one before it
		if err == nil {
			err = s.running.Start()
		}
	}()
	<-ended
	if said := logger.heard(); said != nil {
		err = said
	}
	return s, err
}

// Stop stops the server.
func (s *Server) Stop() error { return s.running.Stop() }

// lastWords is a logger that hears why the server would end this process.
type lastWords struct {
	log.Logger

	mu      sync.Mutex
	said    error
	started bool
}

// Fatal implements [log.Logger]. While the server starts, it ends the goroutine in place of the process.
func (l *lastWords) Fatal(message string, tags ...tag.Tag) {
	l.mu.Lock()
	if l.said = errTaken; message != "Failed to start gRPC listener" {
		l.said = fmt.Errorf("the server: %s %v", message, tags)
	}
	if l.started {
		_, _ = fmt.Fprintln(os.Stderr, l.said)
		os.Exit(1)
	}
	l.mu.Unlock()
	runtime.Goexit()
}

// heard returns what the server has said while it started.
func (l *lastWords) heard() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
	return l.said
}

// configOf returns the config of a server whose services listen at some addresses.
func configOf(addresses map[primitives.ServiceName]*net.TCPAddr, database *config.SQL) (*config.Config, map[primitives.ServiceName]static.Hosts) {
	front := addresses[primitives.FrontendService].String()
	all := &config.Config{
		Global: config.Global{Membership: config.Membership{MaxJoinDuration: patience / 2}},
		Persistence: config.Persistence{
			DefaultStore: plugin.PluginName, VisibilityStore: plugin.PluginName, NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{plugin.PluginName: {SQL: database}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: only, CurrentClusterName: only,
			ClusterInformation: map[string]cluster.ClusterInformation{
				only: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: front},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services:            make(map[string]config.Service),
		Archival: config.Archival{
			History: config.HistoryArchival{State: "disabled"}, Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient: config.PublicClient{HostPort: front},
		NamespaceDefaults: config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
		}},
	}
	hosts := make(map[primitives.ServiceName]static.Hosts)
	for name, at := range addresses {
		all.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: at.Port, BindOnIP: at.IP.String()}}
		hosts[name] = static.SingleLocalHost(at.String())
	}
	return all, hosts
}

// free returns an address for each service, at which nobody listens now. The server cannot be given listeners.
func free() (map[primitives.ServiceName]*net.TCPAddr, error) {
	addresses := make(map[primitives.ServiceName]*net.TCPAddr)
	for _, name := range temporal.DefaultServices {
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", anywhere)
		if err != nil {
			return nil, fmt.Errorf("no port is free: %w", err)
		}
		defer func() { _ = listener.Close() }() // none of the next gets the same
		at, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return nil, fmt.Errorf("%s is no port", listener.Addr())
		}
		addresses[primitives.ServiceName(name)] = at
	}
	return addresses, nil
}
