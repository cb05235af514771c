// Answers messages that the desk posts: no socket, and no process between two messages.
import { webhookHandler } from "nightdesk";

import { serve } from "./serve.js";

const handler = webhookHandler(process.env.NIGHTDESK_WEBHOOK_SECRET ?? "", (entry) => {
  if (entry.text === "yes or no?") {
    const options = [{ id: "yes" }, { id: "no" }];
    return { actions: [{ op: "prompt", prompt_kind: "choice", prompt_id: "p1", content: "Well?", options }] };
  }
  return `you said ${entry.text}`;
});

serve(handler, Number(process.env.PORT ?? 8898));
