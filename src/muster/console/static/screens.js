// The screens. A screen is one module in `screens/` that defines its element; a line here gives it an address.
export const SCREENS = [
  {path: '/', element: 'm-fleet', module: () => import('./screens/fleet.js'), nav: ''},
  {path: '/fleet', element: 'm-fleet', module: () => import('./screens/fleet.js'), nav: 'Fleet'},
  {path: '/clusters/:name', element: 'm-cluster', module: () => import('./screens/cluster.js'), under: 'Fleet'},
  {path: '/playground', element: 'm-playground', module: () => import('./screens/playground.js'), nav: 'Playground'},
  {path: '/placements', element: 'm-placements', module: () => import('./screens/placements.js'), nav: 'Placements'},
  {path: '/placements/:namespace/:name', element: 'm-placement', module: () => import('./screens/placement.js'),
    under: 'Placements'},
  {path: '/placements/:namespace/:name/why/:cluster', element: 'm-why', module: () => import('./screens/why.js'),
    under: 'Placements'},
  {path: '/plan', element: 'm-plan', module: () => import('./screens/plan.js'), nav: 'Plan'},
  {path: '/sets', element: 'm-sets', module: () => import('./screens/sets.js'), nav: 'Sets'},
  {path: '/sets/:name', element: 'm-set', module: () => import('./screens/set.js'), under: 'Sets'},
  {path: '/hosts', element: 'm-hosts', module: () => import('./screens/hosts.js'), nav: 'Hosts'},
  {path: '/operators', element: 'm-operators', module: () => import('./screens/operators.js'), nav: 'Operators'},
  {path: '/operators/:namespace/:name', element: 'm-resolution', module: () => import('./screens/resolution.js'),
    under: 'Operators'},
];
