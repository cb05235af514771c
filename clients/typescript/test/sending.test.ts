import assert from "node:assert/strict";
import { test } from "node:test";

import { BusyError, FailedError, NoLineError, RefusedError, TooLongError, UnknownError } from "../src/index.js";
import { PLACE, pair } from "./agent.js";
import { settle } from "./fake-desk.js";

test("a result tells whether and why a send was not made", async (t) => {
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  const cases: [string, Record<string, unknown>, (error: unknown) => boolean][] = [
    ["ambiguous", { success: false, ambiguous: true, error: "x" }, (error) => error instanceof UnknownError],
    ["unrecorded", { success: false, code: "unrecorded", error: "x" }, (error) => error instanceof UnknownError],
    ["refused", { success: false, code: "egress_declined", error: "no" }, (error) => error instanceof RefusedError],
    [
      "failed",
      { success: false, error: "op not supported: send" },
      (error) => error instanceof FailedError && !error.passes,
    ],
    ["passes", { success: false, error: "network is busy" }, (error) => error instanceof FailedError && error.passes],
  ];
  for (const [name, result, isRight] of cases) {
    const sent = assert.rejects(desk.send(PLACE, "hi"), isRight, name);
    await line.hearSend(result);
    await sent;
  }
  const sent = desk.send(PLACE, "hi", { notify: true });
  assert.deepEqual((await line.hearSend()).metadata, { notify: true });
  assert.equal((await sent).message_id, "m9");
});

test("each operation has the fields of the contract", async (t) => {
  const { fake, desk } = await pair(t, { bots: [{ platform: "discord", id: "b1" }] });
  const line = await fake.nextLive();
  const place = { ...PLACE, thread_id: "t1" };
  const options = [{ id: "yes", label: "Yes" }];
  const cases: [() => Promise<unknown>, Record<string, unknown>][] = [
    [() => desk.edit(place, "m1", "new"), { op: "edit", message_id: "m1", content: "new" }],
    [() => desk.delete(place, "m1"), { op: "delete", message_id: "m1" }],
    [() => desk.typing(place), { op: "typing" }],
    [() => desk.typing(place, "reading"), { op: "typing", content: "reading" }],
    [() => desk.draft(place, 7, "so", true), { op: "draft", draft_id: 7, content: "so", final: true }],
    [
      () => desk.sendMedia(place, { media_kind: "image", source_url: "u", filename: "a.png" }),
      { op: "send_media", media_kind: "image", source_url: "u", filename: "a.png" },
    ],
    [
      () => desk.prompt(place, { prompt_kind: "choice", prompt_id: "p1", content: "Go?", options }),
      { op: "prompt", prompt_kind: "choice", prompt_id: "p1", content: "Go?", options },
    ],
    [() => desk.react(place, "m1", "👀"), { op: "react", message_id: "m1", emoji: "👀" }],
    [() => desk.createThread(place, "talk"), { op: "thread_create", thread_name: "talk" }],
    [
      () => desk.renameThread(place, "t1", "new", "talk"),
      { op: "thread_rename", message_id: "t1", thread_name: "new", only_if_current_name: "talk" },
    ],
  ];
  for (const [call, action] of cases) {
    const sent = call();
    assert.deepEqual(await line.hearSend(), { ...action, chat_id: "c1", metadata: { thread_id: "t1" } });
    await sent;
  }

  const asked = desk.getChatInfo(place);
  await line.hearSend({ success: true, chat_info: { name: "general", type: "channel" } });
  assert.deepEqual(await asked, { name: "general", type: "channel" });
  const followed = desk.followUp("agent:main:discord:dm:c1", "done");
  const { requestId, ...frame } = await line.hear("outbound");
  const kind = "discord.interaction_token";
  const action = { op: "follow_up", session_key: "agent:main:discord:dm:c1", kind, content: "done" };
  assert.deepEqual(frame, { type: "outbound", platform: "discord", botId: "b1", action });
  line.say({ type: "outbound_result", requestId, result: { success: true } });
  await followed;
});

test("a send whose line ends is unknown, is not repeated, and may be repeated under its id", async (t) => {
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  const sent = desk.send(PLACE, "hi").catch((error: unknown) => error);
  const { requestId } = await line.hear("outbound");
  line.socket.terminate();
  const error = await sent;
  assert(error instanceof UnknownError && error.requestId === requestId);

  const next = await fake.nextLive();
  const again = desk.act(PLACE, { op: "send", content: "hi" }, error.requestId);
  const frame = await next.hear("outbound");
  assert.equal(frame.requestId, requestId, "nothing was written before it");
  next.say({ type: "outbound_result", requestId, result: { success: true, message_id: "m4" } });
  assert.equal((await again).message_id, "m4");
});

test("64 sends are in flight, 64 wait, and further ones are refused", async (t) => {
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  await desk.handshake();
  const sends = Array.from({ length: 128 }, (_, at) => desk.send(PLACE, String(at)));
  await assert.rejects(desk.send(PLACE, "one too many"), BusyError);
  const ids: unknown[] = [];
  for (let at = 0; at < 64; at++) ids.push((await line.hear("outbound")).requestId);
  await settle();
  assert.equal(line.frames.size, 0);

  for (const requestId of ids) line.say({ type: "outbound_result", requestId, result: { success: true } });
  for (let at = 64; at < 128; at++)
    assert.equal((await line.hearSend()).content, String(at), "in the order of the calls");
  await Promise.all(sends);
  assert.equal(new Set(ids).size, 64);
  assert(ids.every((id) => /^[0-9a-f]{32}/.test(String(id)) && String(id).length <= 128));
});

test("a send that is too long is not sent", async (t) => {
  const { fake, desk } = await pair(t);
  await fake.nextLive();
  await assert.rejects(desk.send(PLACE, "x".repeat(4 * 1024 * 1024)), TooLongError);
});

test("a send waits ten seconds for a line, and half a minute for its result", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { fake, desk } = await pair(t);
  const line = await fake.nextLine();
  const early = desk.send(PLACE, "early").catch((error: unknown) => error);
  t.mock.timers.tick(9_999);
  await settle();
  await line.greet();
  await line.hear("outbound");
  t.mock.timers.tick(29_999);
  await settle();
  const state = await Promise.race([early, Promise.resolve("it still waits")]);
  assert.equal(state, "it still waits");
  t.mock.timers.tick(1);
  assert((await early) instanceof UnknownError);

  line.socket.terminate();
  await line.closed.next("the close");
  await settle();
  t.mock.timers.tick(1);
  await (await fake.nextLine()).hear("hello");
  const late = assert.rejects(desk.send(PLACE, "late"), NoLineError);
  t.mock.timers.tick(10_000);
  await late;
});
