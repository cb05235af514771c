// Each check writes to our adapter as a user of a third-party fake Telegram, and compares the bot's messages.

'use strict';

const assert = require('node:assert');
const net = require('node:net');
const { spawn } = require('node:child_process');
const TelegramServer = require('telegram-test-api');
const { version } = require('telegram-test-api/package.json');

const TOKEN = '4242:the-key';
const PATIENCE_MS = 10_000;

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

// Waits until the bot's messages in the fake match, and returns them.
async function said(server, isSo) {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const messages = server.storage.botMessages.map((one) => one.message);
    if (isSo(messages)) {
      return messages;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not in time: ${JSON.stringify(server.storage.botMessages)}`);
}

const checks = {
  async a_text_comes_back(server, client) {
    await client.sendMessage(client.makeMessage('**so** it is.'));
    const [message] = await said(server, (all) => all.length === 1);
    assert.deepStrictEqual([message.text, message.parse_mode], ['*so* it is\\.', 'MarkdownV2']);
    assert.strictEqual(String(message.chat_id), '1');
  },
  async a_command_is_ours_or_another_bots(server, client) {
    await client.sendCommand(client.makeCommand('/do@desk_bot now'));
    await client.sendCommand(client.makeCommand('/do@other_bot now'));
    const messages = await said(server, (all) => all.length === 2);
    const texts = messages.map((message) => message.text);
    assert.deepStrictEqual(texts, ['/do now', '/do@other\\_bot now']);
  },
  async a_message_is_edited(server, client) {
    await client.sendMessage(client.makeMessage('edit now'));
    await said(server, (all) => all.length === 1 && all[0].text === 'now');
  },
  async a_message_is_deleted(server, client) {
    // The bot may delete the message before the first poll, so an event counts it.
    let made = 0;
    server.on('AddedBotMessage', () => { made += 1; });
    await client.sendMessage(client.makeMessage('delete it'));
    await said(server, (all) => made === 1 && all.length === 0);
  },
  async a_button_is_pressed(server, client) {
    await client.sendMessage(client.makeMessage('ask well?'));
    const [asked] = await said(server, (all) => all.length === 1);
    const [[button]] = asked.reply_markup.inline_keyboard;
    const message = {
      message_id: server.storage.botMessages[0].messageId,
      from: { id: 4242, is_bot: true, first_name: 'Desk' },
      reply_markup: asked.reply_markup,
    };
    await client.sendCallback(client.makeCallbackQuery(button.callback_data, { message }));
    await said(server, (all) => all.some((one) => one.text === 'pressed yes'));
  },
};

async function passes(name) {
  const port = await freePort();
  const server = new TelegramServer({ port, host: '127.0.0.1' });
  await server.start();
  const url = `http://127.0.0.1:${port}`;
  const echo = spawn(process.env.TELEGRAM_ECHO_BIN, [url, 'desk_bot'], { stdio: ['pipe', 'inherit', 'inherit'] });
  echo.stdin.end(`${TOKEN}\n`);
  try {
    await checks[name](server, server.getClient(TOKEN, { timeout: PATIENCE_MS }));
    console.log(`  ok    ${name}`);
    return true;
  } catch (error) {
    console.log(`  WRONG ${name}: ${error.message}`);
    return false;
  } finally {
    echo.kill();
    await server.stop();
  }
}

async function main(names) {
  const chosen = Object.keys(checks).filter((name) => names.length === 0 || names.includes(name));
  let passed = 0;
  for (const name of chosen) {
    passed += (await passes(name)) ? 1 : 0;
  }
  console.log(`telegram-test-api: version=${version} checks=${chosen.length} passed=${passed}`);
  process.exitCode = chosen.length > 0 && passed === chosen.length ? 0 : 1;
}

main(process.argv.slice(2));
