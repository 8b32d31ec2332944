package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// talk holds a conversation with the client of oapi-codegen.
func talk(ctx context.Context, address string, sent []byte) (record ended, facts int64, err error) {
	client, err := NewClientWithResponses(address)
	if err != nil {
		return record, 0, err
	}
	var config Config
	if err := json.Unmarshal(sent, &config); err != nil {
		return record, 0, err
	}
	started, err := client.StartWithResponse(ctx, config)
	if err != nil {
		return record, 0, err
	}
	if started.JSON201 == nil {
		return record, 0, fmt.Errorf("start: %s", started.Body)
	}
	id := started.JSON201.Id
	end := make(chan streamed, 1)
	go func() {
		response, err := client.Stream(ctx, id, nil)
		if err != nil {
			end <- streamed{err: err}
			return
		}
		defer response.Body.Close()
		end <- follow(response.Body)
	}()

	inbox, err := client.InboxWithResponse(ctx, nil)
	if err != nil {
		return record, 0, err
	}
	if inbox.JSON200 == nil || len(inbox.JSON200.Questions) != 1 {
		return record, 0, fmt.Errorf("inbox: %s", inbox.Body)
	}
	var answer Answer
	if err := json.Unmarshal([]byte(`{"option":"retry"}`), &answer); err != nil {
		return record, 0, err
	}
	answered, err := client.AnswerWithResponse(ctx, id, inbox.JSON200.Questions[0].Question.Id, answer)
	if err != nil {
		return record, 0, err
	}
	if answered.JSON202 == nil {
		return record, 0, fmt.Errorf("answer: %s", answered.Body)
	}
	again, err := client.AnswerWithResponse(ctx, id, "none", answer)
	if err != nil {
		return record, 0, err
	}
	if again.ApplicationproblemJSONDefault == nil || again.ApplicationproblemJSONDefault.Status != again.StatusCode() {
		return record, 0, errors.New("a problem is no problem")
	}

	s := <-end
	if s.err != nil {
		return record, 0, s.err
	}
	read, err := client.ReadWithResponse(ctx, id, nil)
	if err != nil {
		return record, 0, err
	}
	if read.JSON200 == nil {
		return record, 0, fmt.Errorf("read: %s", read.Body)
	}
	record, err = recordOf(read.JSON200.Record)
	return record, s.last, err
}
