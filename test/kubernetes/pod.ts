/** A probe of a container. Omitted fields have the defaults of Kubernetes. */
export interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

/** The probes of a container. */
export interface Probes {
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

/** The time between two probes. What counts is how many of them fail, so their own periods would only take longer. */
const PERIOD_MS = 200;

/**
 * Evaluates the probes of a container like the kubelet, except for their periods
 * (https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/).
 */
export class Pod {
  #ready = false;
  #restarts = 0;
  #readinessProbes = 0;
  readonly #address: string;
  readonly #timers: NodeJS.Timeout[] = [];
  #waiting: { readonly probes: number; readonly resolve: () => void }[] = [];

  private constructor(address: string) {
    this.#address = address;
  }

  /**
   * Resolves when the startup probe has succeeded, and probes until {@link stop}.
   *
   * @param address The address of the management listener.
   */
  static async start(probes: Probes, address: string): Promise<Pod> {
    const pod = new Pod(address);
    await pod.#started(probes.startupProbe);
    pod.#repeat(probes.livenessProbe, (failed) => {
      if (failed) pod.#restarts += 1;
    });
    pod.#repeat(probes.readinessProbe, (failed, succeeded) => {
      if (failed) pod.#ready = false;
      if (succeeded) pod.#ready = true;
      pod.#readinessProbes += 1;
      for (const { probes, resolve } of pod.#waiting) if (pod.#readinessProbes >= probes) resolve();
    });
    return pod;
  }

  /** Whether the Service has the pod as an endpoint. */
  get ready(): boolean {
    return this.#ready;
  }

  /** How often the liveness probe would have restarted the container. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Resolves after this number of further readiness probes. */
  async probed(count: number): Promise<void> {
    const probes = this.#readinessProbes + count;
    await new Promise<void>((resolve) => this.#waiting.push({ probes, resolve }));
    this.#waiting = this.#waiting.filter((it) => it.probes !== probes);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  #started(probe: Probe): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#repeat(probe, (failed, succeeded) => {
        if (failed) reject(new Error('the startup probe failed'));
        if (!failed && !succeeded) return;
        clearInterval(this.#timers.pop());
        resolve();
      });
    });
  }

  /** Runs a probe in its period. Reports whether it has reached its threshold of failures, or has succeeded. */
  #repeat(probe: Probe, report: (failed: boolean, succeeded: boolean) => void): void {
    const { failureThreshold = 3 } = probe;
    let failures = 0;
    const run = async () => {
      const succeeded = await this.#succeeds(probe);
      failures = succeeded ? 0 : failures + 1;
      report(failures >= failureThreshold, succeeded);
    };
    this.#timers.push(setInterval(() => void run(), PERIOD_MS));
  }

  async #succeeds({ httpGet, timeoutSeconds = 1 }: Probe): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(timeoutSeconds * 1000);
      const { status } = await fetch(`${this.#address}${httpGet.path}`, { signal });
      return status >= 200 && status < 400;
    } catch {
      return false;
    }
  }
}
