// Package settings tests git-agent beside a user who has set everything that git can be told: each row of the table in
// internal/git/settings.go has another value, hooks of both kinds refuse, and variables of the environment say more.
package settings
