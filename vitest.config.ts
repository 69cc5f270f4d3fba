import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@oplus/source'] },
  ssr: { resolve: { conditions: ['@oplus/source'] } },
  test: {
    include: ['{packages,skills,apps}/*/src/**/*.test.ts', 'test/**/*.test.ts', 'bench/src/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
