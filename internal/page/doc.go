// Package page writes missions as one HTML file that a person looks at: a tree of missions, their turns, what was said and
// done in each, what it changed.
//
// # The file
//
// It loads nothing and sends nothing: styles and scripts are in it, and a content security policy forbids the rest. What
// it shows is JSON in packets of about a megabyte, each compressed and in a script element of a type that no browser runs;
// the scripts open a packet when a turn of it is looked at. An index with a line for each turn comes last, so that the
// packets are written while missions are read, and memory doesn't grow with them.
//
// # What is trusted
//
// Nothing. All texts may be a stranger's. Here they only become JSON strings, compressed and in base64, in which nothing
// can end an element; there they only become text nodes, and the policy forbids to parse a text as HTML. Markdown is parsed
// here, into a tree of which the scripts know every tag.
package page
