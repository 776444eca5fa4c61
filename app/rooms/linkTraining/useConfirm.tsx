/** A question that has to be answered before something is replaced. */
import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { strings } from "../../strings";

const text = strings.linkTraining.control;

interface Question {
  title: string;
  body: string;
  answer: (yes: boolean) => void;
}

/** @returns what asks, and the dialog to be drawn */
export function useConfirm(): [confirm: (title: string, body: string) => Promise<boolean>, dialog: React.ReactNode] {
  const [question, setQuestion] = useState<Question>();
  const settle = (yes: boolean) => {
    question?.answer(yes);
    setQuestion(undefined);
  };
  const confirm = (title: string, body: string) =>
    new Promise<boolean>((answer) => setQuestion({ title, body, answer }));
  const dialog = (
    <Modal opened={question !== undefined} title={question?.title} centered onClose={() => settle(false)}>
      <p>{question?.body}</p>
      <Button.Group>
        <Button data-autofocus variant="default" onClick={() => settle(false)}>
          {text.replaceNo}
        </Button>
        <Button onClick={() => settle(true)}>{text.replaceYes}</Button>
      </Button.Group>
    </Modal>
  );
  return [confirm, dialog];
}
