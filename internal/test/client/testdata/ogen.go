package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// talk holds a conversation with the client of ogen.
func talk(ctx context.Context, address string, sent []byte) (record ended, facts int64, err error) {
	client, err := NewClient(address)
	if err != nil {
		return record, 0, err
	}
	var config Config
	if err := config.UnmarshalJSON(sent); err != nil {
		return record, 0, err
	}
	if _, err := client.Start(ctx, &config); err != nil {
		return record, 0, err
	}
	id := config.ID.Value
	end := make(chan streamed, 1)
	go func() {
		response, err := client.Stream(ctx, StreamParams{ID: id})
		if err != nil {
			end <- streamed{err: err}
			return
		}
		if body, ok := response.(*StreamOK); ok {
			end <- follow(body)
			return
		}
		end <- streamed{err: fmt.Errorf("the stream is a %T", response)}
	}()

	inbox, err := client.Inbox(ctx, InboxParams{})
	if err != nil {
		return record, 0, err
	}
	if len(inbox.Questions) != 1 {
		return record, 0, fmt.Errorf("there are %d questions", len(inbox.Questions))
	}
	var answer Answer
	if err := answer.UnmarshalJSON([]byte(`{"option":"retry"}`)); err != nil {
		return record, 0, err
	}
	if _, err := client.Answer(ctx, &answer, AnswerParams{ID: id, Question: inbox.Questions[0].Question.ID}); err != nil {
		return record, 0, err
	}
	_, err = client.Answer(ctx, &answer, AnswerParams{ID: id, Question: "none"})
	if problem := (*RefusedStatusCode)(nil); !errors.As(err, &problem) || problem.Response.Status != problem.StatusCode {
		return record, 0, fmt.Errorf("a problem is no problem: %w", err)
	}

	s := <-end
	if s.err != nil {
		return record, 0, s.err
	}
	read, err := client.Read(ctx, ReadParams{ID: id})
	if err != nil {
		return record, 0, err
	}
	record, err = recordOf(json.RawMessage(read.Record))
	return record, s.last, err
}
