"""Equations of motion of multibody systems: formed, explained, compiled and integrated."""

from dalembert import beams as beams
from dalembert import constraints as constraints
from dalembert import controllers as controllers
from dalembert import convert as convert
from dalembert import data as data
from dalembert import generators as generators
from dalembert import loops as loops
from dalembert.analysis import ports as ports
from dalembert.analysis.constrained_functions import forward_dynamics as forward_dynamics
from dalembert.analysis.constrained_functions import forward_dynamics_derivatives as forward_dynamics_derivatives
from dalembert.analysis.constrained_functions import inverse_dynamics as inverse_dynamics
from dalembert.analysis.constrained_functions import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from dalembert.analysis.constrained_functions import linearize as linearize
from dalembert.analysis.freedoms import degrees_of_freedom as degrees_of_freedom
from dalembert.analysis.integrability import integrability as integrability
from dalembert.analysis.loop_closing import assemble as assemble
from dalembert.analysis.loop_closing import assemblies as assemblies
from dalembert.analysis.loop_closing import project as project
from dalembert.analysis.minimal_form import minimal_form as minimal_form
from dalembert.analysis.section_forces import SectionForces as SectionForces
from dalembert.analysis.section_forces import SectionPeak as SectionPeak
from dalembert.analysis.section_forces import section_forces_at as section_forces_at
from dalembert.analysis.section_forces import strain_forces as strain_forces
from dalembert.analysis.vibration_model import DampedFrequencies as DampedFrequencies
from dalembert.analysis.vibration_model import VibrationModel as VibrationModel
from dalembert.closed_forms.equations import Equations as Equations
from dalembert.closed_forms.equations import equations as equations
from dalembert.closed_forms.equations import quasi_velocity_equations as quasi_velocity_equations
from dalembert.closed_forms.printing.expressions import latex as latex
from dalembert.closed_forms.printing.expressions import text as text
from dalembert.compiled.constraint_forces import constraint_jacobian as constraint_jacobian
from dalembert.compiled.constraint_forces import constraint_residual as constraint_residual
from dalembert.compiled.constraint_forces import multipliers as multipliers
from dalembert.compiled.constraint_forces import reactions as reactions
from dalembert.compiled.dynamics import Dynamics as Dynamics
from dalembert.compiled.dynamics import compile as compile
from dalembert.compiled.linear_response import StateSpaceModel as StateSpaceModel
from dalembert.compiled.linear_response import frequency_response as frequency_response
from dalembert.compiled.linear_response import state_space as state_space
from dalembert.compiled.linear_stability import StabilityMap as StabilityMap
from dalembert.compiled.linear_stability import exponents as exponents
from dalembert.compiled.linear_stability import stability_map as stability_map
from dalembert.compiled.linear_stability import stable_multipliers as stable_multipliers
from dalembert.compiled.linear_stability import state_matrix as state_matrix
from dalembert.compiled.modal_convergence import ModalComparison as ModalComparison
from dalembert.compiled.modal_convergence import ModalConvergence as ModalConvergence
from dalembert.compiled.modal_convergence import modal_convergence as modal_convergence
from dalembert.compiled.natural_vibrations import FrequencyMap as FrequencyMap
from dalembert.compiled.natural_vibrations import ModeShapes as ModeShapes
from dalembert.compiled.natural_vibrations import damped_frequencies as damped_frequencies
from dalembert.compiled.natural_vibrations import frequency_map as frequency_map
from dalembert.compiled.natural_vibrations import mode_shapes as mode_shapes
from dalembert.compiled.natural_vibrations import natural_frequencies as natural_frequencies
from dalembert.compiled.natural_vibrations import vibration_model as vibration_model
from dalembert.compiled.servo_report import servo_report as servo_report
from dalembert.compiled.static_deflection import StaticDeflection as StaticDeflection
from dalembert.compiled.static_deflection import static_deflection as static_deflection
from dalembert.errors import ConstraintError as ConstraintError
from dalembert.errors import DalembertError as DalembertError
from dalembert.errors import DalembertWarning as DalembertWarning
from dalembert.errors import DamagedStoreError as DamagedStoreError
from dalembert.errors import EquilibriumError as EquilibriumError
from dalembert.errors import LockedStoreError as LockedStoreError
from dalembert.errors import MissingFileError as MissingFileError
from dalembert.errors import ModelError as ModelError
from dalembert.errors import OverflowedError as OverflowedError
from dalembert.errors import ParameterError as ParameterError
from dalembert.errors import QuaternionError as QuaternionError
from dalembert.errors import ReadError as ReadError
from dalembert.errors import RememberingError as RememberingError
from dalembert.errors import ShapeError as ShapeError
from dalembert.errors import SingularConfigurationError as SingularConfigurationError
from dalembert.errors import SingularMassMatrixError as SingularMassMatrixError
from dalembert.errors import StoreError as StoreError
from dalembert.errors import UnknownNameError as UnknownNameError
from dalembert.expr import Expr as Expr
from dalembert.expr import Graph as Graph
from dalembert.expr import absolute as absolute
from dalembert.expr import acos as acos
from dalembert.expr import array as array
from dalembert.expr import asin as asin
from dalembert.expr import atan2 as atan2
from dalembert.expr import constant as constant
from dalembert.expr import cos as cos
from dalembert.expr import cosh as cosh
from dalembert.expr import count_operations as count_operations
from dalembert.expr import derivative as derivative
from dalembert.expr import equal as equal
from dalembert.expr import evaluate as evaluate
from dalembert.expr import exp as exp
from dalembert.expr import free_symbols as free_symbols
from dalembert.expr import gradient as gradient
from dalembert.expr import hypot as hypot
from dalembert.expr import import_nodes as import_nodes
from dalembert.expr import log as log
from dalembert.expr import maximum as maximum
from dalembert.expr import minimum as minimum
from dalembert.expr import power as power
from dalembert.expr import sign as sign
from dalembert.expr import sin as sin
from dalembert.expr import sinh as sinh
from dalembert.expr import sqrt as sqrt
from dalembert.expr import substitute as substitute
from dalembert.expr import symbol as symbol
from dalembert.expr import symbols as symbols
from dalembert.expr import tan as tan
from dalembert.expr import tanh as tanh
from dalembert.expr import where as where
from dalembert.formulations import hamilton as hamilton
from dalembert.formulations import lagrange as lagrange
from dalembert.formulations.lagrange import LagrangianSystem as LagrangianSystem
from dalembert.formulations.lagrange import lagrangian_system as lagrangian_system
from dalembert.formulations.newton_euler import bias_force as bias_force
from dalembert.formulations.newton_euler import centroidal_momentum as centroidal_momentum
from dalembert.formulations.newton_euler import coriolis_matrix as coriolis_matrix
from dalembert.formulations.newton_euler import coriolis_vector as coriolis_vector
from dalembert.formulations.newton_euler import gravity_vector as gravity_vector
from dalembert.formulations.newton_euler import inverse_mass_matrix as inverse_mass_matrix
from dalembert.formulations.newton_euler import kinetic_energy as kinetic_energy
from dalembert.formulations.newton_euler import mass_matrix as mass_matrix
from dalembert.formulations.newton_euler import momenta as momenta
from dalembert.formulations.newton_euler import potential_energy as potential_energy
from dalembert.formulations.newton_euler import regressor as regressor
from dalembert.formulations.newton_euler import regressor_parameters as regressor_parameters
from dalembert.initial_parameters.elastic_line import elastic_line as elastic_line
from dalembert.initial_parameters.houbolt import houbolt_damping as houbolt_damping
from dalembert.initial_parameters.line_run import LineRun as LineRun
from dalembert.kinematics.forces import passive_force as passive_force
from dalembert.kinematics.jacobians import jacobian as jacobian
from dalembert.kinematics.jacobians import jacobian_rate as jacobian_rate
from dalembert.kinematics.momentum import center_of_mass_jacobian as center_of_mass_jacobian
from dalembert.kinematics.momentum import centroidal_momentum_matrix as centroidal_momentum_matrix
from dalembert.kinematics.poses import center_of_mass as center_of_mass
from dalembert.kinematics.poses import placement as placement
from dalembert.model.actuators import Actuator as Actuator
from dalembert.model.elastic.beam import Beam as Beam
from dalembert.model.elastic.beam_damping import ModalDamping as ModalDamping
from dalembert.model.elastic.beam_damping import Rayleigh as Rayleigh
from dalembert.model.elastic.tip_loads import TipLoad as TipLoad
from dalembert.model.elastic.tip_loads import tip_load as tip_load
from dalembert.model.elastic.transmissions import Transmission as Transmission
from dalembert.model.external_forces import ExternalForce as ExternalForce
from dalembert.model.findings import Finding as Finding
from dalembert.model.friction_laws import Stribeck as Stribeck
from dalembert.model.joints import Continuous as Continuous
from dalembert.model.joints import Custom as Custom
from dalembert.model.joints import Cylindrical as Cylindrical
from dalembert.model.joints import Fixed as Fixed
from dalembert.model.joints import Free as Free
from dalembert.model.joints import Helical as Helical
from dalembert.model.joints import JointType as JointType
from dalembert.model.joints import Planar as Planar
from dalembert.model.joints import Prismatic as Prismatic
from dalembert.model.joints import Revolute as Revolute
from dalembert.model.joints import Spherical as Spherical
from dalembert.model.joints import Universal as Universal
from dalembert.model.limit_vectors import effort_limits as effort_limits
from dalembert.model.limit_vectors import position_limits as position_limits
from dalembert.model.limit_vectors import velocity_limits as velocity_limits
from dalembert.model.mechanism import Mechanism as Mechanism
from dalembert.model.origins import Origin as Origin
from dalembert.model.origins import Source as Source
from dalembert.model.parts import Body as Body
from dalembert.model.parts import Frame as Frame
from dalembert.model.parts import Joint as Joint
from dalembert.model.parts import Limits as Limits
from dalembert.model.parts import Mimic as Mimic
from dalembert.model.visuals import Visual as Visual
from dalembert.native.function import function as function
from dalembert.readers.dh import DHParameters as DHParameters
from dalembert.readers.dh import from_dh as from_dh
from dalembert.readers.generators import planar_chain as planar_chain
from dalembert.readers.generators import random_tree as random_tree
from dalembert.readers.load import load as load
from dalembert.readers.motions import from_motions as from_motions
from dalembert.reports.report_file import report as report
from dalembert.results.elastic_histories import TipError as TipError
from dalembert.results.elastic_histories import section_forces as section_forces
from dalembert.results.elastic_histories import tip_error as tip_error
from dalembert.results.run import Run as Run
from dalembert.simulation.contact_motion import least_constraint as least_constraint
from dalembert.simulation.simulate import resume as resume
from dalembert.simulation.simulate import simulate as simulate
from dalembert.spatial import solids as solids
from dalembert.spatial.inertias import Inertia as Inertia
from dalembert.sweeps.sweep import Sweep as Sweep
from dalembert.sweeps.sweep import sweep as sweep
from dalembert.systems.system import System as System
from dalembert.tracing.quantity import Quantity as Quantity
from dalembert.views.viewer.browser_view import Viewer as Viewer
from dalembert.views.viewer.browser_view import view as view
from dalembert.writers.save import save as save

__all__ = [
    "Actuator",
    "Beam",
    "Body",
    "ConstraintError",
    "Continuous",
    "Custom",
    "Cylindrical",
    "DHParameters",
    "DalembertError",
    "DalembertWarning",
    "DamagedStoreError",
    "DampedFrequencies",
    "Dynamics",
    "Equations",
    "EquilibriumError",
    "Expr",
    "ExternalForce",
    "Finding",
    "Fixed",
    "Frame",
    "Free",
    "FrequencyMap",
    "Graph",
    "Helical",
    "Inertia",
    "Joint",
    "JointType",
    "LagrangianSystem",
    "Limits",
    "LineRun",
    "LockedStoreError",
    "Mechanism",
    "Mimic",
    "MissingFileError",
    "ModalComparison",
    "ModalConvergence",
    "ModalDamping",
    "ModeShapes",
    "ModelError",
    "Origin",
    "OverflowedError",
    "ParameterError",
    "Planar",
    "Prismatic",
    "Quantity",
    "QuaternionError",
    "Rayleigh",
    "ReadError",
    "RememberingError",
    "Revolute",
    "Run",
    "SectionForces",
    "SectionPeak",
    "ShapeError",
    "SingularConfigurationError",
    "SingularMassMatrixError",
    "Source",
    "Spherical",
    "StabilityMap",
    "StateSpaceModel",
    "StaticDeflection",
    "StoreError",
    "Stribeck",
    "Sweep",
    "System",
    "TipError",
    "TipLoad",
    "Transmission",
    "Universal",
    "UnknownNameError",
    "VibrationModel",
    "Viewer",
    "Visual",
    "absolute",
    "acos",
    "array",
    "asin",
    "assemble",
    "assemblies",
    "atan2",
    "beams",
    "bias_force",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "centroidal_momentum_matrix",
    "compile",
    "constant",
    "constraint_jacobian",
    "constraint_residual",
    "constraints",
    "controllers",
    "convert",
    "coriolis_matrix",
    "coriolis_vector",
    "cos",
    "cosh",
    "count_operations",
    "damped_frequencies",
    "data",
    "degrees_of_freedom",
    "derivative",
    "effort_limits",
    "elastic_line",
    "equal",
    "equations",
    "evaluate",
    "exp",
    "exponents",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "free_symbols",
    "frequency_map",
    "frequency_response",
    "from_dh",
    "from_motions",
    "function",
    "generators",
    "gradient",
    "gravity_vector",
    "hamilton",
    "houbolt_damping",
    "hypot",
    "import_nodes",
    "integrability",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_mass_matrix",
    "jacobian",
    "jacobian_rate",
    "kinetic_energy",
    "lagrange",
    "lagrangian_system",
    "latex",
    "least_constraint",
    "linearize",
    "load",
    "log",
    "loops",
    "mass_matrix",
    "maximum",
    "minimal_form",
    "minimum",
    "modal_convergence",
    "mode_shapes",
    "momenta",
    "multipliers",
    "natural_frequencies",
    "passive_force",
    "placement",
    "planar_chain",
    "ports",
    "position_limits",
    "potential_energy",
    "power",
    "project",
    "quasi_velocity_equations",
    "random_tree",
    "reactions",
    "regressor",
    "regressor_parameters",
    "report",
    "resume",
    "save",
    "section_forces",
    "section_forces_at",
    "servo_report",
    "sign",
    "simulate",
    "sin",
    "sinh",
    "solids",
    "sqrt",
    "stability_map",
    "stable_multipliers",
    "state_matrix",
    "state_space",
    "static_deflection",
    "strain_forces",
    "substitute",
    "sweep",
    "symbol",
    "symbols",
    "tan",
    "tanh",
    "text",
    "tip_error",
    "tip_load",
    "velocity_limits",
    "vibration_model",
    "view",
    "where",
]

__version__: str
