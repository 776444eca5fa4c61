/**
 * Build of the page and the test projects. The base is relative, so the built page works from any folder of any
 * static host; workers are ES modules because the engine worker imports the library in pieces.
 */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { roomPreload } from "./scripts/lib/roomPreload.mjs";

export default defineConfig({
  base: "./",
  plugins: [
    react(),
    roomPreload({
      first: "dual-system",
      fonts: ["inter-latin-wght-normal", "jetbrains-mono-latin-wght-normal"],
      data: { "dual-system": ["traces/dual-system.json"], "latent-recursion": ["traces/latent-recursion.json"] },
    }),
  ],
  worker: { format: "es" },
  build: {
    target: "es2023",
    outDir: "dist",
    chunkSizeWarningLimit: 1500,
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        // One file for what every room needs: each more costs a small machine as much time as twenty kilobytes do.
        codeSplitting: { groups: [{ name: "page", tags: ["$initial"] }] },
      },
    },
  },
  // Vite would otherwise scan every HTML file of the tree for dependencies.
  optimizeDeps: { entries: ["index.html"] },
  test: {
    // A process that still holds a Dawn instance never ends by itself.
    teardownTimeout: 5_000,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          environment: "node",
          include: ["src/**/*.test.ts", "app/**/*.test.{ts,tsx}", "scripts/**/*.test.mjs", "tests/unit/**/*.test.ts"],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "gpu",
          environment: "node",
          include: ["tests/gpu/**/*.test.ts"],
          setupFiles: ["tests/gpu/setup.ts"],
          // One process at a time: a software device already uses every core, and Dawn is loaded once per process.
          pool: "forks",
          maxWorkers: 1,
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
});
