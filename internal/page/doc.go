// Package page writes missions as one HTML file for people: a tree of missions,
// and their turns with what was said, done and changed.
//
// # The file
//
// It loads and sends nothing: styles and scripts are in it, and a content
// security policy forbids the rest. Its content is compressed JSON, in packets
// of about a megabyte: script elements of a type that browsers don't run, which
// the scripts open when a turn is looked at. The index comes last, so that
// packets are written as missions are read, in bounded memory.
//
// # What is trusted
//
// Nothing: any text may be untrusted. Here texts only become JSON strings, in
// compressed base64, which can't end an element. In browsers they only become
// text nodes, and the policy forbids parsing a text as HTML. Markdown is parsed
// here, into a tree with tags that the scripts all know.
package page
