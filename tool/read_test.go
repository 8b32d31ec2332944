package tool_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/tool"
)

func TestReads(t *testing.T) {
	read := tools(t, map[string]string{
		"three": "one\ntwo\nthree\n", "open": "one\ntwo", "empty": "", "windows": "one\r\ntwo\r\n", "greek": "αβγ", "sub/x": "x",
	}, tool.Limits{})[tool.ReadFileName]
	for name, c := range map[string]struct {
		args arguments
		want string
	}{
		"all":            {arguments{"path": "three"}, "Lines 1 to 3 of 3. Hash b6285c57e8797db5.\n\none\ntwo\nthree\n"},
		"from a line on": {arguments{"path": "three", "offset": 2}, "Lines 2 to 3 of 3. Hash b6285c57e8797db5.\n\ntwo\nthree\n"},
		"some lines":     {arguments{"path": "three", "offset": 2, "limit": 1}, "Lines 2 to 2 of 3. Go on with offset 3. Hash b6285c57e8797db5.\n\ntwo\n"},
		"many lines":     {arguments{"path": "three", "limit": 1 << 60}, "Lines 1 to 3 of 3. Hash b6285c57e8797db5.\n\none\ntwo\nthree\n"},
		"no last break":  {arguments{"path": "open"}, "Lines 1 to 2 of 2. Hash 21066d108d5319ec.\n\none\ntwo"},
		"two bytes":      {arguments{"path": "windows"}, "Lines 1 to 2 of 2. Hash 6f4792b265fe7279.\n\none\r\ntwo\r\n"},
		"other letters":  {arguments{"path": "greek"}, "Lines 1 to 1 of 1. Hash a36d0b22783c5fac.\n\nαβγ"},
		"nothing":        {arguments{"path": "empty"}, "The file is empty. Hash e3b0c44298fc1c14."},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, answer(t, read, c.args))
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	read := tools(t, map[string]string{
		"text": "one\n", "zero": "one\x00two", "latin": "caf\xe9", "utf16": "\xff\xfeh\x00i\x00", "late": strings.Repeat("x", 60<<10) + "\x00",
		"sub/x": "x",
	}, tool.Limits{})[tool.ReadFileName]
	for want, args := range map[string]arguments{
		`"zero": is no text in UTF-8`:  {"path": "zero"},
		`"latin": is no text in UTF-8`: {"path": "latin"},
		`"utf16": is no text in UTF-8`: {"path": "utf16"},
		`"late": is no text in UTF-8`:  {"path": "late"},
		`"sub": is a folder, no file`:  {"path": "sub"},
		`"": is a folder, no file`:     {"path": ""},
		"there are 1 lines that can":   {"path": "text", "offset": 2},
		"none is at offset 1152921504": {"path": "text", "offset": 1 << 60},
		"the arguments are wrong":      {"path": "text", "offset": 0},
		"wrong":                        {"path": "text", "limit": -1},
		"missing properties":           {},
	} {
		assert.Contains(t, refusal(t, read, args), want)
	}
}

// Of a large file only the beginning is read, and the answer says so; a character is not cut.
func TestLargeFiles(t *testing.T) {
	files := map[string]string{"large": strings.Repeat("line\n", 100_000), "greek": "xxx" + strings.Repeat("α", 1000), "exact": strings.Repeat("x", 100)}
	read := tools(t, files, tool.Limits{})[tool.ReadFileName]
	text := answer(t, read, arguments{"path": "large"})
	assert.Contains(t, text, "Go on with offset 6145. The file has 500000 bytes, of which the first 65536 can be read. Hash b90ce2c5650f2088.\n\nline\n")
	assert.Contains(t, refusal(t, read, arguments{"path": "large", "offset": 14_000}), "there are 13108 lines")

	read = tools(t, files, tool.Limits{File: 100})[tool.ReadFileName]
	text = answer(t, read, arguments{"path": "greek"})
	assert.Equal(t, "Lines 1 to 1 of 1. The file has 2003 bytes, of which the first 99 can be read. Hash 6a3ca6a3d5ef641d.\n\nxxx"+strings.Repeat("α", 48), text)
	assert.NotContains(t, answer(t, read, arguments{"path": "exact"}), "can be read")
}

// Whoever goes on as the answers say reads each line once.
func TestPages(t *testing.T) {
	longform.Lone(t)
	random := rand.New(rand.NewPCG(1, 2))
	next := regexp.MustCompile(`^Lines (\d+) to (\d+) of (\d+)\.(?: Go on with offset (\d+)\.)? Hash [0-9a-f]{16}\.\n\n`)
	for range 5 {
		var text strings.Builder
		for range random.IntN(2000) {
			fmt.Fprintln(&text, strings.Repeat("é", random.IntN(1<<random.IntN(12))))
		}
		text.WriteString("end")
		read := tools(t, map[string]string{"f": text.String()}, tool.Limits{File: 4 << 20})[tool.ReadFileName]
		var got strings.Builder
		for offset := 1; ; {
			args := arguments{"path": "f", "offset": offset}
			if random.IntN(2) == 0 {
				args["limit"] = 1 + random.IntN(500)
			}
			page := answer(t, read, args)
			title := next.FindStringSubmatch(page)
			require.NotNil(t, title, page[:min(len(page), 100)])
			assert.Equal(t, strconv.Itoa(offset), title[1])
			assert.Equal(t, strconv.Itoa(strings.Count(text.String(), "\n")+1), title[3])
			got.WriteString(page[len(title[0]):])
			if title[4] == "" {
				break
			}
			var err error
			offset, err = strconv.Atoi(title[4])
			require.NoError(t, err)
		}
		require.Equal(t, text.String(), got.String())
	}
}

func TestVeryLongLines(t *testing.T) {
	read := tools(t, map[string]string{"f": "first\n" + strings.Repeat("é", 20_000) + "\nlast\n"}, tool.Limits{})[tool.ReadFileName]
	assert.Equal(t, "Lines 1 to 1 of 3. Go on with offset 2. Hash 0c73ecf690c45ec6.\n\nfirst\n", answer(t, read, arguments{"path": "f"}))
	text := answer(t, read, arguments{"path": "f", "offset": 2})
	assert.True(t, strings.HasPrefix(text, "Lines 2 to 2 of 3. Go on with offset 3. Hash 0c73ecf690c45ec6.\n\néé"))
	assert.True(t, strings.HasSuffix(text, "é\n[… 9281 more bytes of this line are left out]\n"), text[len(text)-80:])
}

// The hash is of the whole file, whichever part is read. A file beyond what can be written has none.
func TestHashes(t *testing.T) {
	longform.Lone(t)
	most := strings.Repeat("line\n", 4<<20/5+1)[:4<<20]
	read := tools(t, map[string]string{
		"a": "one\ntwo\n", "most": most, "more": most + "x", "late": strings.Repeat("x", 100<<10) + "\x00" + "end",
	}, tool.Limits{})[tool.ReadFileName]
	hash := func(data string) string { return fmt.Sprintf(" Hash %x.\n", sha256.Sum256([]byte(data)))[:22] }
	for _, args := range []arguments{{"path": "a"}, {"path": "a", "offset": 2}, {"path": "a", "limit": 1}} {
		assert.Contains(t, answer(t, read, args), hash("one\ntwo\n"))
	}
	assert.Contains(t, answer(t, read, arguments{"path": "most"}), hash(most))
	assert.Contains(t, answer(t, read, arguments{"path": "late"}), hash(strings.Repeat("x", 100<<10)+"\x00"+"end"))
	assert.NotContains(t, answer(t, read, arguments{"path": "more"}), "Hash")
}
