// Answers each message with its text, until SIGTERM or Ctrl-C.
import { Desk } from "nightdesk";

const { NIGHTDESK_URL: url = "", NIGHTDESK_GATEWAY: gateway = "", NIGHTDESK_SECRET: secret = "" } = process.env;
const desk = Desk.connect({ url, login: { gateway, secret } }).idleOn("SIGTERM", "SIGINT");
for await (const entry of desk.entries()) {
  await entry.reply(entry.text);
}
