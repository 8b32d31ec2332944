package toolschema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Rename gives the arguments of a tool names that all vendors take, where theirs are none. former has the given names by the new ones;
// nil: all names stay. The schema is not changed.
func Rename(schema json.RawMessage) (renamed json.RawMessage, former map[string]string) {
	root, ok := Parse(schema)
	properties, described := Parse(root.Get("properties"))
	if !ok || !described {
		return schema, nil
	}
	renames := make(map[string]string) // the new names, by the given ones
	for i, p := range properties {
		if property(p.Name) {
			continue
		}
		if former == nil {
			former = make(map[string]string)
		}
		name := free(p.Name, properties)
		properties[i].Name, renames[p.Name], former[name] = name, name, p.Name
	}
	if former == nil {
		return schema, nil
	}
	required := root.texts("required")
	for i, name := range required {
		if renames[name] != "" {
			required[i] = renames[name]
		}
	}
	if root = root.set("properties", properties.JSON()); len(required) > 0 {
		root = root.set("required", Written(required))
	}
	return root.JSON(), former
}

// free returns a name like the given one that vendors take, and that no property has.
func free(name string, properties Object) string {
	const most = 64
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name), "_")
	if name == "" {
		name = "argument"
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(properties, func(f Field) bool { return f.Name == name })
	}
	made := name[:min(len(name), most)]
	for n := 2; taken(made); n++ {
		suffix := "_" + strconv.Itoa(n)
		made = name[:min(len(name), most-len(suffix))] + suffix
	}
	return made
}
