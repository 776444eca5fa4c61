/**
 * The arrows of imports (docs/architecture.md): shaders -> gpu -> tensor -> model, links, onnx -> recursion, dual,
 * train -> experiments -> worker -> app. What is pure (packing, text, world, corpus, trace, reference, checkpoint,
 * random) knows nothing of the GPU. tests/unit/arrows.test.ts proves that each rule can fail.
 */

/** Layers of src/ from the lowest to the highest: nothing imports from a layer above its own. */
const layers = [
  ["gpu"],
  ["tensor"],
  ["model", "links", "onnx"],
  ["recursion", "dual"],
  ["train"],
  ["experiments"],
  ["worker"],
];
const pure = ["packing", "text", "world", "corpus", "trace", "reference", "checkpoint", "random"];
const ui = "(react|react-dom|zustand|recharts|@mantine/[^/]+|@tabler/icons-react|@tanstack/react-router|@xyflow/react)";

const anyOf = (names) => `^src/(${names.join("|")})/`;
const test = "\\.test\\.tsx?$";

const upward = layers.slice(0, -1).map((names, level) => {
  const above = layers.slice(level + 1).flat();
  return {
    name: `${names.join("-")}-looks-down`,
    comment: `src/${names.join(", src/")} must not import from the layers above: ${above.join(", ")}.`,
    severity: "error",
    from: { path: anyOf(names) },
    to: { path: anyOf(above) },
  };
});

module.exports = {
  forbidden: [
    ...upward,
    {
      name: "pure-knows-no-gpu",
      comment: `${pure.join(", ")} run without a GPU and must not import from any layer that has one.`,
      severity: "error",
      from: { path: anyOf(pure) },
      to: { path: `${anyOf(layers.flat())}|^shaders/|node_modules/webgpu/` },
    },
    {
      name: "library-knows-no-page",
      comment: "src/, shaders/, scripts/ and pretrain/ must not import from app/.",
      severity: "error",
      from: { path: "^(src|shaders|scripts|pretrain)/" },
      to: { path: "^app/" },
    },
    {
      name: "only-page-has-ui",
      comment: "React, Mantine, charts, router and stores belong to app/ alone.",
      severity: "error",
      from: { pathNot: "^(app|tests|node_modules)/|^[^/]+$" },
      to: { path: `(^|node_modules/)${ui}(/|$)` },
    },
    {
      name: "rooms-are-islands",
      comment: "A room must not import from another room: shared pictures live in app/components.",
      severity: "error",
      from: { path: "^app/rooms/([^/]+)/" },
      to: { path: "^app/rooms/", pathNot: "^app/rooms/$1/" },
    },
    {
      name: "shared-knows-no-room",
      comment: "app/components and app/stores serve every room and must not import one.",
      severity: "error",
      from: { path: "^app/(components|stores)/" },
      to: { path: "^app/rooms/" },
    },
    {
      name: "page-uses-public-api",
      comment: "app/ imports the library through src/index.ts and src/worker/ only.",
      severity: "error",
      from: { path: "^app/" },
      to: { path: "^src/", pathNot: "^src/(index\\.ts$|worker/)" },
    },
    {
      name: "command-line-is-a-leaf",
      comment: "Nothing but src/cli itself and tests imports the command line.",
      severity: "error",
      from: { pathNot: "^(src/cli|tests)/" },
      to: { path: "^src/cli/" },
    },
    {
      name: "library-runs-in-browsers",
      comment: "Node's own modules and Dawn belong to src/cli/, to files named node*.ts, and to tests.",
      severity: "error",
      from: { path: "^(src|app)/", pathNot: `^src/cli/|/node[A-Z][^/]*\\.ts$|${test}` },
      to: {
        path: "^(node:)?(fs|path|os|url|process|child_process|worker_threads|module|crypto|util|http|https|net|stream|buffer|readline|events|assert)(/|$)|node_modules/webgpu/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "page-reaches-no-node-file",
      comment: "Files named node*.ts must not end up in the page's bundle, by whatever detour.",
      severity: "error",
      from: { path: "^(app/|src/worker/|src/index\\.ts$)", pathNot: test },
      to: { path: "^src/.*/node[A-Z][^/]*\\.ts$", reachable: true },
    },
    {
      name: "shaders-belong-to-engine",
      comment: "WGSL is imported by gpu, tensor, model and links only: everything else calls their functions.",
      severity: "error",
      from: { pathNot: "^(src/(gpu|tensor|model|links)|shaders|tests)/" },
      to: { path: "^shaders/" },
    },
    {
      name: "no-cycles",
      comment: "Files that import each other cannot be read one after the other.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "not-to-unresolvable",
      comment: "An import that cannot be resolved would escape every other rule.",
      severity: "error",
      from: {},
      // Files of a package that the bundler copies: the query hides them from the package's exports.
      to: { couldNotResolve: true, pathNot: "^(pyodide|onnxruntime-web)/.*\\?url$" },
    },
    {
      name: "product-knows-no-test",
      comment: "Only tests import tests and development packages.",
      severity: "error",
      from: { path: "^(src|app)/", pathNot: test },
      to: { path: `${test}|^tests/|node_modules/(vitest|fast-check|@playwright/test)/` },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    // Type imports are arrows too: a pure folder that names a GPU type is no longer pure.
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
