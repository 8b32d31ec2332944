package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// textOf returns a tool's answer in a form that a model can read: texts unchanged, one below the other,
// and one line for each part that is not text.
func textOf(result *sdk.CallToolResult) (string, error) {
	if result.NeedsInput() {
		return "", errors.New("the tool asks a question, and nobody here answers it")
	}
	var parts []string
	for _, content := range result.Content {
		parts = append(parts, partOf(content))
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		structured, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return "", fmt.Errorf("the answer is no JSON: %w", err)
		}
		parts = append(parts, string(structured))
	}
	return cut(strings.Join(parts, "\n"), maxAnswer), nil
}

func partOf(content sdk.Content) string {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return blob("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return blob("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return line("link to", c.URI, c.Title, c.MIMEType)
	case *sdk.EmbeddedResource:
		switch {
		case c.Resource == nil:
			return line("resource")
		case c.Resource.Blob != nil:
			return line("resource", c.Resource.URI, c.Resource.MIMEType, strconv.Itoa(len(c.Resource.Blob))+" bytes")
		default:
			return line("resource", c.Resource.URI, c.Resource.MIMEType) + "\n" + c.Resource.Text
		}
	default:
		return line("something that is no text")
	}
}

func blob(kind, mime string, size int) string {
	return line(kind, mime, strconv.Itoa(size)+" bytes, not shown")
}

const maxDetail = 400 // bytes of an address, a title or a type

// line describes a part that is not text, in brackets.
func line(kind string, details ...string) string {
	var said []string
	for _, detail := range details {
		if detail != "" {
			said = append(said, cut(strings.Join(strings.Fields(detail), " "), maxDetail))
		}
	}
	if len(said) == 0 {
		return "[" + kind + "]"
	}
	return "[" + kind + " " + strings.Join(said, ", ") + "]"
}

// cut keeps the beginning of a text, and says how much is left out. The result has at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const room = 60 // for the note
	head := strings.ToValidUTF8(text[:n-room], "")
	return fmt.Sprintf("%s\n[… %d more bytes are left out]", head, len(text)-len(head))
}
