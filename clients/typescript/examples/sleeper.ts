// Answers messages, sleeps after a minute of quiet, and waits for the desk's next wake call.
import { Desk, WakeCalls } from "nightdesk";

import { serve } from "./serve.js";

const { NIGHTDESK_URL: url = "", NIGHTDESK_GATEWAY: gateway = "", NIGHTDESK_SECRET: secret = "" } = process.env;
const calls = new WakeCalls(process.env.NIGHTDESK_WAKE_SECRET ?? "");
serve(calls.fetch, Number(process.env.PORT ?? 8899));

for (let end = ""; end !== "idle";) {
  const desk = Desk.connect({ url, login: { gateway, secret }, sleepAfter: 60_000 }).idleOn("SIGTERM");
  end = await desk.run((entry) => entry.reply(entry.text));
  console.log(`the agent is ${end}`);
  if (end === "asleep") await calls.woken();
}
process.exit();
