// Package mcp turns the tools of an MCP server (Model Context Protocol) into tools of a conversation.
//
//	session, tools, err := mcp.Open(ctx, &mcp.CommandTransport{Command: exec.Command("some-server")})
//	defer session.Close() // after engine.Shutdown
//	engine := &debate.Engine{Tools: tools, …}
//
// The session and its transports (a command's standard input and output, streamable HTTP, your own) come
// from github.com/modelcontextprotocol/go-sdk/mcp, called sdk here. [TransportTo] makes one of what a person has typed.
// [Open] is [Connect], which makes a session that grants the server nothing, and [Tools]. A session that was made in
// another way, with other options, works with Tools too.
//
// # Names
//
// A tool keeps the server's name. Characters other than letters, digits, '-' and '_' become '_', and
// names are cut to 64 characters, because all vendors accept such names. Of two tools that come to the same
// name, one gets a number. [Add] puts the tools of several servers into one map: of two with the same name, the later
// one gets that of its server before it.
//
// # Schemas
//
// Schemas are lowered to what all vendors take: no alternatives at the root, no list without items, and formats
// in words. Arguments whose names vendors refuse, such as "filter[id]", get others, and the server gets its own.
// A tool whose schema cannot be lowered has the reason in its ToolInfo.LeftOut. A conversation begins without it.
//
// # Trust
//
// Models see what a server says about its tools: name, description and schema. The hints that a tool only
// reads, or that a second call has no further effect, are believed, so a use that was interrupted is
// repeated. Connect only to servers that you trust with that, or wrap a tool whose hints you do not
// believe. Answers of tools are hostile text, as for all tools; the engine puts them into a fence.
//
// The server sees the arguments that models write, and nothing else of a conversation. If the server cannot be
// reached, the model gets only a general message, because such errors can hold addresses and keys. The error is
// then [ErrNoAnswer], and errors.Unwrap returns the cause.
//
// The list of tools, with descriptions and schemas, is read once. A tool that the server removes later
// fails when it is used.
package mcp
