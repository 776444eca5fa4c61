/** What can go wrong with a device, each with its own plain sentence. Nothing above src/gpu sees a raw GPUError. */

export type UnavailableReason = "insecureContext" | "noWebGpu" | "noAdapter" | "deviceRefused";

/** There is no device to compute on. */
export class GpuUnavailableError extends Error {
  override readonly name = "GpuUnavailableError";

  constructor(
    readonly reason: UnavailableReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The device is gone: by the driver or the browser ("unknown"), or because it was closed ("destroyed"). */
export class DeviceLostError extends Error {
  override readonly name = "DeviceLostError";

  constructor(
    readonly reason: GPUDeviceLostReason,
    detail: string,
  ) {
    const why = reason === "destroyed" ? "it was closed" : detail.trim() || "the browser gives no reason";
    super(`the GPU device was lost: ${why}`);
  }
}

/** A buffer did not fit. */
export class GpuOutOfMemoryError extends Error {
  override readonly name = "GpuOutOfMemoryError";

  constructor(
    /** What the buffer was for. */
    label: string,
    readonly neededBytes: number,
    /** What was still free, where that is known: browsers do not tell. */
    readonly availableBytes: number | undefined,
    /** Bytes that this program holds on the device. */
    readonly liveBytes: number,
  ) {
    const available = availableBytes === undefined ? "less than that" : `${formatBytes(availableBytes)}`;
    super(
      `out of memory on the GPU: ${label} needs ${formatBytes(neededBytes)}, available is ${available}` +
        ` (${formatBytes(liveBytes)} are in use)`,
    );
  }
}

/** The device refused a command or a shader: a fault of this program or of the driver. */
export class GpuFailure extends Error {
  override readonly name = "GpuFailure";
}

/** As people write it: "1.5 MiB". */
export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
