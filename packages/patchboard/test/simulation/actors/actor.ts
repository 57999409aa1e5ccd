import type { Pack } from '../../../src/core/tools/server-tool.ts';
import type { Profile } from '../profile.ts';
import type { Stream } from '../random.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { World } from '../world.ts';
import type { Step } from '../plan.ts';

export interface StepDraft {
  /** Simulated milliseconds after the start. */
  readonly at: number;
  readonly do: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A part of the simulated world that acts. Its steps are planned before the simulation begins. A step may refer to another
 * step by its id, and does nothing if that step is not in the plan.
 */
export interface Actor {
  /** Unique; the first part of the ids of its steps. */
  readonly name: string;
  /** Draws its steps from a stream of its own. */
  readonly plan: (stream: Stream, profile: Profile) => readonly StepDraft[];
  /** Begins a step. What it awaits must be simulated. */
  readonly perform: (world: World, step: Step) => void | Promise<void>;
  /** The server tools that it needs. Called for each process that starts. */
  readonly packs?: (world: World, process: SimulatedProcess) => readonly Pack[];
  /** Called when the engine of a node has started. */
  readonly started?: (world: World, process: SimulatedProcess) => void;
  /** Called when faults are over and all nodes run: what it still holds open is ended here. */
  readonly calm?: (world: World) => void | Promise<void>;
}
