/** A question that has to be answered before something is lost. */
import { Button, Modal } from "@mantine/core";
import { useState } from "react";

interface Question {
  title: string;
  body: string;
  answer: (isSure: boolean) => void;
}

/** @returns what asks, and the dialog to be drawn */
export function useConfirm(
  yes: string,
  no: string,
): [confirm: (title: string, body: string) => Promise<boolean>, dialog: React.ReactNode] {
  const [question, setQuestion] = useState<Question>();
  const settle = (isSure: boolean) => {
    question?.answer(isSure);
    setQuestion(undefined);
  };
  const confirm = (title: string, body: string) =>
    new Promise<boolean>((answer) => setQuestion({ title, body, answer }));
  const dialog = (
    <Modal opened={question !== undefined} title={question?.title} centered onClose={() => settle(false)}>
      <p>{question?.body}</p>
      <Button.Group>
        <Button data-autofocus variant="default" onClick={() => settle(false)}>
          {no}
        </Button>
        <Button onClick={() => settle(true)}>{yes}</Button>
      </Button.Group>
    </Modal>
  );
  return [confirm, dialog];
}
