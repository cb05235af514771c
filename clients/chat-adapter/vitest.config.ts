import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/**/*.test.ts"], setupFiles: ["@chat-adapter/tests/setup"], testTimeout: 15_000 },
});
