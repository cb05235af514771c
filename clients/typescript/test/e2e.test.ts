import assert from "node:assert/strict";
import { test } from "node:test";

import { CallError, Desk, type Entry, FailedError, Media, Peers, RefusedError } from "../src/index.js";
import { Person, REAL, startDesk } from "./real-desk.js";

test("a person, an agent and a real desk", REAL, async (t) => {
  const { url, chat, gateway, secret } = await startDesk(t);
  const settings = { url, login: { gateway, secret } };
  const desk = Desk.connect(settings);
  t.after(() => desk.disconnect());
  const [descriptor] = await desk.handshake();
  assert.equal(descriptor?.contract_version, 1);
  const person = new Person(chat);
  const seen = new Map<string, unknown>();
  const running = desk.run(
    (entry) => answer(desk, entry, seen),
    () => undefined,
  );

  await t.test("a message is answered where it was written", () => person.ask("hello", "ts: hello"));
  await t.test("a message is edited, and another one deleted", async () => {
    await person.ask("edit", "ts: edited");
    const [texts, turn] = [await person.read(), String(seen.get("turn"))];
    const left = ["before", "deleted", "after"].map((word) => texts.includes(`${word} ${turn}`));
    assert.deepEqual(left, [false, false, true], texts.join("; "));
  });
  await t.test("the desk tells what it does not do", async () => {
    await person.ask("refuse", "ts: refused");
    assert(seen.get("react") instanceof FailedError, "the web chat has no reactions");
    assert(seen.get("elsewhere") instanceof RefusedError, "nobody wrote from there");
    assert.deepEqual(seen.get("info"), { name: seen.get("author"), type: "dm" });
    assert.match(String(seen.get("session")), /^agent:main:relay:dm:[0-9a-f]{32}$/);
  });

  const peers = new Peers(settings);
  await t.test("a letter reaches an agent, and its answer is the reply", () => exchangeLetters(peers));
  await t.test("the shelf keeps skills and data", () => useShelf(peers));
  await t.test("a file is stored and read", async () => {
    const media = new Media(settings);
    const reference = await media.upload(Buffer.from("bytes"), "text/plain", "a.txt");
    assert.equal(Buffer.from(await media.download(reference)).toString(), "bytes");
  });
  await t.test("a wrong secret is refused", async () => {
    const wrong = new Peers({ url, login: { gateway, secret: "wrong" } });
    await assert.rejects(wrong.listAgents(), (error: unknown) => error instanceof CallError && error.status === 401);
  });
  await t.test("the agent goes idle", async () => {
    assert.equal(await desk.goIdle(), "idle");
    assert.equal(await running, "idle");
  });
});

/** The turn of an entry. The test reads what was seen. */
async function answer(desk: Desk, entry: Entry, seen: Map<string, unknown>): Promise<void> {
  const { source, message_id, letter } = entry.event;
  if (letter === undefined) seen.set("session", entry.session);
  if (entry.text === "edit") {
    const turn = crypto.randomUUID();
    const edited = await entry.reply(`before ${turn}`);
    const deleted = await desk.send(source, `deleted ${turn}`);
    await desk.typing(source, "at work");
    await desk.delete(source, deleted.message_id ?? "");
    await desk.edit(source, edited.message_id ?? "", `after ${turn}`);
    seen.set("turn", turn);
    await entry.reply("ts: edited");
  } else if (entry.text === "refuse") {
    const keep = (error: unknown) => error;
    seen.set("react", await desk.react(source, message_id ?? "", "👀").catch(keep));
    seen.set("elsewhere", await desk.send({ ...source, chat_id: "0".repeat(32) }, "hi").catch(keep));
    seen.set("info", await desk.getChatInfo(source));
    seen.set("author", source.user_name);
    await entry.reply("ts: refused");
  } else {
    await entry.reply(`ts: ${entry.text}`);
  }
}

/** Writes to the only agent, which is the sender itself. */
async function exchangeLetters(peers: Peers): Promise<void> {
  const agents = await peers.listAgents();
  assert.equal(agents.length, 1);
  const letter = { agent: agents[0]?.agent_id ?? "", message: "how are you?", dispatch_id: "greeting-1" };
  const { content } = await peers.exchange(letter, 60_000);
  assert.equal(content, "ts: how are you?");
  assert.equal((await peers.exchange(letter, 60_000)).content, content, "the same letter");

  const [sent] = await peers.letters();
  assert.equal((await peers.letter(sent?.letter_id ?? ""))?.state, "replied");
  assert.equal(await peers.letter(crypto.randomUUID()), undefined);
}

async function useShelf(peers: Peers): Promise<void> {
  const source = '# Skill: brief\n# Status: Draft\n\nt:\n    emit(text="hi")\n';
  const written = await peers.skillWrite({ name: "brief", source });
  assert.equal((await peers.skillStatus("brief", "Approved")).previous_status, "Draft");
  assert.equal((await peers.skillRead("brief", written.version))?.source, source);
  assert.equal((await peers.skillVersions("brief"))?.length, 2);
  assert.equal(await peers.skillRead("nothing"), undefined);
  const catalogue = await peers.skillList({ audience: "all" });
  const names = [catalogue.skills, catalogue.receives, catalogue.headless].flat().map((skill) => skill?.name);
  assert(names.includes("brief"), JSON.stringify(catalogue));

  const { id } = await peers.dataWrite({ content: "The kettle is blue.", tags: ["kitchen"] });
  assert.deepEqual(
    (await peers.dataQuery("kettle")).map((found) => found.id),
    [id],
  );
  assert.equal((await peers.dataRead(id))?.detail, "The kettle is blue.");
}
