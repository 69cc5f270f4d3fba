/**
 * Generated values are drawn from one seed, so that a fault is killed or survives alike each time.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: 20_260_801 });
