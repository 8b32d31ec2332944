package tool

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/internal/redact"
)

const maxVariable = 32 << 10 // bytes of a variable's value

// environment returns the variables of a program, and nothing else of this process's.
func environment(env map[string]string, inherit []string) ([]string, error) {
	out := []string{} // nil would be all of this process's
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := harmless(name, env[name]); err != nil {
			return nil, invalid("commands.env", fmt.Errorf("%s %w", strconv.Quote(cut(name, maxName)), err))
		}
		out = append(out, name+"="+env[name])
	}
	for i, name := range inherit {
		value, set := os.LookupEnv(name)
		err := harmless(name, value)
		if _, twice := env[name]; err == nil && (twice || slices.Contains(inherit[:i], name)) {
			err = errors.New("is a duplicate")
		}
		if err != nil {
			return nil, invalid(fmt.Sprintf("commands.inherit[%d]", i), fmt.Errorf("%s %w", strconv.Quote(cut(name, maxName)), err))
		}
		if set {
			out = append(out, name+"="+value)
		}
	}
	return out, nil
}

// harmless refuses a variable that cannot be, or that may hold a secret. Its error does not show the value.
func harmless(name, value string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return errors.New("is no name of a variable")
	case strings.ContainsRune(value, 0):
		return errors.New("has a value with a zero byte")
	case len(value) > maxVariable:
		return fmt.Errorf("has a value of more than %d bytes", maxVariable)
	case namesSecret(name):
		return errors.New("has the name of a secret, which no program gets")
	case redact.Foreign(value) != value:
		return errors.New("has a value that looks like a secret, which no program gets")
	}
	return nil
}

// namesSecret reports whether a variable has a name as those of secrets have.
func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{
		"SECRET", "TOKEN", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ACCESSKEY", "PRIVATEKEY", "COOKIE", "NETRC", "KUBECONFIG",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if name == "PWD" || name == "OLDPWD" { // folders
		return false
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "AUTH", "KEY", "KEYS", "PASS", "PAT", "PWD", "DSN", "JWT":
			return true
		}
	}
	return false
}
