/** A device that is connected to a node, or may still resume there. */
export interface ListedDevice {
  readonly session: string;
  /** See `Device.firstSession`. */
  readonly firstSession: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly name: string;
  readonly isOnline: boolean;
  /** Epoch milliseconds. */
  readonly connectedAt: number;
  readonly tools: readonly string[];
}

export interface CountedDevice extends ListedDevice {
  /** Open calls that were sent to the device. */
  readonly openCalls: number;
}

export interface DeviceQuery {
  readonly tenant: string;
  /** Only devices of this client. */
  readonly clientId?: string | undefined;
  /** Only sessions before this one; null: from the newest. */
  readonly before: string | null;
  readonly limit: number;
}

/** The devices of all nodes of a store. Those of a node that is gone are not found any more. */
export interface DeviceDirectory {
  /** Inserts or replaces devices of this node, and removes the sessions in `gone`. */
  save(devices: readonly ListedDevice[], gone: readonly string[]): Promise<void>;
  /** Whether another node has a device that offers the tool and has `target` as its name, its session or its client. */
  offersElsewhere(tenant: string, toolName: string, target: string): Promise<boolean>;
  /** The devices of other nodes, newest first. */
  listElsewhere(query: DeviceQuery): Promise<readonly CountedDevice[]>;
  /** How many devices of the tenant are connected to other nodes. */
  countElsewhere(tenant: string): Promise<number>;
}
