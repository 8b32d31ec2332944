// Package mcp makes debate tools of those that an MCP server (Model Context Protocol) offers.
//
//	session, err := mcp.Connect(ctx, &sdk.CommandTransport{Command: exec.Command("some-server")})
//	defer session.Close() // after engine.Shutdown
//	tools, err := mcp.Tools(ctx, session)
//	engine := &debate.Engine{Tools: tools, …}
//
// The session and its transports (a command's standard input and output, streamable HTTP, one's own) are those of
// github.com/modelcontextprotocol/go-sdk/mcp, called sdk here. [Connect] makes a session that grants the server
// nothing; a session that was made in another way, with other options, will do as well.
//
// # Names
//
// A tool keeps the server's name. What is no letter, digit, '-' or '_' becomes '_', and what is beyond 64 characters is
// cut, since that is what all vendors take. To use several servers whose tools are called alike, put a prefix before the
// names of one map before it is registered.
//
// # Trust
//
// What a server says about its tools is shown to models: name, description and schema. Its hint that a tool only
// reads is believed, so that a use that was broken off is made again: connect to servers that are trusted with that.
// What tools answer is hostile text, as that of all tools; the engine puts it into a fence.
//
// The server sees what models write as arguments, and nothing else of a debate. What goes wrong on the way to it is
// told to models in general words, because such errors can hold addresses and keys; errors.Unwrap yields them.
//
// The list of tools, with descriptions and schemas, is read once. A tool that the server drops later fails when it is
// used.
package mcp
