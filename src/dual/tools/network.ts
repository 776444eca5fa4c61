/**
 * The switch of all tools that use the network. It is off until a person turns it on, and whoever turns it off ends the
 * requests that are under way.
 */

export class NetworkSwitch {
  private controller: AbortController | undefined;

  /** Off at first, unless the person's choice is known already. */
  constructor(allowed = false) {
    if (allowed) this.allow();
  }

  get allowed(): boolean {
    return this.controller !== undefined;
  }

  allow(): void {
    this.controller ??= new AbortController();
  }

  /** Requests under way end with an error. */
  forbid(): void {
    this.controller?.abort(new Error("The use of the network was switched off."));
    this.controller = undefined;
  }

  /**
   * The signal that aborts when the network is switched off.
   * @throws Error, for System 2 to read, while it is off
   */
  get signal(): AbortSignal {
    if (!this.controller) throw new Error("The use of the network is switched off.");
    return this.controller.signal;
  }
}
