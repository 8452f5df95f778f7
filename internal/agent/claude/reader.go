package claude

import "gitagent/internal/transcript"

func (Agent) Reader() transcript.Reader { return &reader{} }

func (Agent) Late() bool { return false }

type reader struct{}

func (*reader) Read(at int, line []byte) transcript.Entry { return transcript.Entry{} }
