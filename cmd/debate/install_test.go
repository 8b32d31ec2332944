package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/agonist-dev/debate/internal/longform"
)

// released is the version that the modules have in their own go.mod files, as long as nothing has been released.
const released = "v0.0.0"

// TestInstalling installs the program by its path, as somebody does who has no clone: from a proxy that has the modules of this
// repository. It shows that the requirements of the modules fit together, and that none depends on the workspace.
//
// It takes minutes where nothing has been built before, and seconds afterwards.
func TestInstalling(t *testing.T) {
	longform.Only(t, "the gate builds each module without the workspace")
	proxy, bin := t.TempDir(), t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	publish(t, root, proxy)
	environment := goVariables(t, "GOPROXY", "GOMODCACHE")
	install := exec.CommandContext(t.Context(), "go", "install", "github.com/agonist-dev/debate/cmd/debate@latest")
	install.Dir = t.TempDir()
	install.Env = append(os.Environ(),
		"GOWORK=off", "GOBIN="+bin, "GOTOOLCHAIN=local",
		// The modules of others have been downloaded and verified before. So that this version of ours stays in no cache,
		// the test has one of its own, which is deleted with the test.
		"GOMODCACHE="+t.TempDir(), "GOSUMDB=off",
		"GOPROXY="+strings.Join([]string{
			"file://" + proxy, "file://" + filepath.Join(environment["GOMODCACHE"], "cache", "download"), environment["GOPROXY"],
		}, ","),
		// -trimpath lets the cache of builds ignore where the modules lie.
		"GOFLAGS=-mod=mod -modcacherw -trimpath",
	)
	output, err := install.CombinedOutput()
	require.NoError(t, err, "%s", output)

	program := filepath.Join(bin, "debate")
	built, err := os.Stat(program)
	require.NoError(t, err)
	assert.LessOrEqual(t, built.Size(), int64(mostBytes))
	version, err := exec.CommandContext(t.Context(), program, "--version").Output()
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(version), "debate "+released+","), "%s", version)
	help, err := exec.CommandContext(t.Context(), program, "--help").Output()
	require.NoError(t, err)
	assert.Contains(t, string(help), "debate [problem]")
}

// mostBytes is the size of the program as it is installed, with its symbols.
const mostBytes = 60_000_000

// Vendors' SDKs are for tests: linked into the program, they would be most of it.
func TestNoSDKIsLinked(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	packages := strings.Fields(string(output))
	require.Contains(t, packages, "github.com/agonist-dev/debate/provider/openai")
	for _, path := range packages {
		for _, heavy := range []string{
			"github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go", "google.golang.org/genai", "google.golang.org/grpc",
		} {
			assert.False(t, strings.HasPrefix(path, heavy), path)
		}
	}
}

// goVariables returns what "go env" says of some variables.
func goVariables(t *testing.T, names ...string) map[string]string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "go", append([]string{"env"}, names...)...).Output()
	require.NoError(t, err)
	values := make(map[string]string)
	for i, line := range strings.Split(strings.TrimSuffix(string(output), "\n"), "\n") {
		values[names[i]] = line
	}
	return values
}

// publish puts the modules of the workspace into a folder that is laid out like a module proxy.
func publish(t *testing.T, root, proxy string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	require.NoError(t, err)
	work, err := modfile.ParseWork("go.work", data, nil)
	require.NoError(t, err)
	for _, use := range work.Use {
		if strings.HasPrefix(use.Path, "./internal/") {
			continue // it is never released
		}
		folder := filepath.Join(root, filepath.FromSlash(use.Path))
		mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		require.NoError(t, err)
		version := module.Version{Path: modfile.ModulePath(mod), Version: released}
		escaped, err := module.EscapePath(version.Path)
		require.NoError(t, err)
		place := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
		require.NoError(t, os.MkdirAll(place, 0o750))
		for name, content := range map[string]string{
			"list": released + "\n", released + ".info": `{"Version":"` + released + `"}`, released + ".mod": string(mod),
		} {
			require.NoError(t, os.WriteFile(filepath.Join(place, name), []byte(content), 0o600))
		}
		pack(t, version, folder, filepath.Join(place, released+".zip"))
	}
}

// pack writes the archive of a module.
func pack(t *testing.T, version module.Version, folder, path string) {
	t.Helper()
	found, err := zip.CheckDir(folder)
	require.NoError(t, cmp.Or(err, found.Err()))
	var files []zip.File
	for _, path := range found.Valid {
		name, err := filepath.Rel(folder, path)
		require.NoError(t, err)
		if name = filepath.ToSlash(name); !strings.HasPrefix(name, "coverage/") { // what the checks write meanwhile
			files = append(files, source{name, path})
		}
	}
	out, err := os.Create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, out.Close()) }()
	require.NoError(t, zip.Create(out, version, files))
}

// source is a file of a module.
type source struct{ name, path string }

func (s source) Path() string                 { return s.name }
func (s source) Lstat() (os.FileInfo, error)  { return os.Lstat(s.path) }
func (s source) Open() (io.ReadCloser, error) { return os.Open(s.path) }
