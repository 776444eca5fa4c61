/**
 * The second engine for pages and workers. Everything that it needs, onnxruntime-web, its WebAssembly and the writer of
 * graphs, is fetched by the first call; a page that never calls pays nothing.
 */
import type { LanguageModel } from "../model/languageModel";
import type { LoadOnnxExportOptions, LoadOnnxModelOptions } from "./load";
import type { OnnxProvider } from "./runtime";

/** @throws as `loadOnnxModel`; Error when onnxruntime-web cannot be loaded */
export async function openOnnxModel(
  provider: OnnxProvider,
  options: Omit<LoadOnnxModelOptions, "runtime">,
): Promise<LanguageModel> {
  const { loadOnnxModel, runtime } = await load(provider);
  return loadOnnxModel({ ...options, runtime });
}

/** @throws as `loadOnnxExport`; Error when onnxruntime-web cannot be loaded */
export async function openOnnxExport(
  provider: OnnxProvider,
  options: Omit<LoadOnnxExportOptions, "runtime">,
): Promise<LanguageModel> {
  const { loadOnnxExport, runtime } = await load(provider);
  return loadOnnxExport({ ...options, runtime });
}

async function load(provider: OnnxProvider) {
  const [loaders, { browserOnnxRuntime }] = await Promise.all([import("./load"), import("./browserRuntime")]);
  return { ...loaders, runtime: await browserOnnxRuntime(provider) };
}
