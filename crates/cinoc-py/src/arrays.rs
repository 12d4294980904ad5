//! NumPy arrays of the caller, checked before use.

use crate::fault::wrong;
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{
    Element, PyArray, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The length of an axis; none: any.
pub type Size = Option<usize>;

/// Numbers that are read: C-contiguous, of this type and shape. `what` is named in errors.
pub fn given<'py, T: Element>(what: &str, array: &Bound<'py, PyAny>, shape: &[Size]) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    checked::<T>(what, array, shape)?
        .try_readonly()
        .map_err(|_| wrong(format!("{what} is being written to by another call; wait for it")))
}

/// The same with numbers of another real type converted.
pub fn converted<'py, T: Element>(what: &str, array: &Bound<'py, PyAny>, shape: &[Size]) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let real = array.cast::<PyUntypedArray>().is_ok_and(|array| b"fiub".contains(&array.dtype().kind()));
    if array.cast::<PyArrayDyn<T>>().is_ok() || !real {
        return given(what, array, shape);
    }
    let converted = array.py().import("numpy")?.call_method1("ascontiguousarray", (array, T::get_dtype(array.py())))?;
    given(what, &converted, shape)
}

/// The same where it need not be given.
pub fn maybe<'py, T: Element>(
    what: &str,
    array: Option<&Bound<'py, PyAny>>,
    shape: &[Size],
) -> PyResult<Option<PyReadonlyArrayDyn<'py, T>>> {
    array.map(|array| given(what, array, shape)).transpose()
}

/// `count` flags. NumPy takes any byte for a bool.
pub fn marks(what: &str, array: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<bool>> {
    checked::<bool>(what, array, &[Some(count)])?;
    let bytes = given::<u8>(what, &array.call_method1("view", ("uint8",))?, &[Some(count)])?;
    Ok(numbers(&bytes).iter().map(|byte| *byte != 0).collect())
}

/// An array that is written: C-contiguous, writable, of this type and shape.
pub fn room<'py, T: Element>(what: &str, array: &Bound<'py, PyAny>, shape: &[usize]) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let shape: Vec<Size> = shape.iter().copied().map(Some).collect();
    let array = checked::<T>(what, array, &shape)?;
    array
        .try_readwrite()
        .map_err(|_| wrong(format!("{what} must be writable and not in use by another call; give a separate array")))
}

fn checked<'a, 'py, T: Element>(
    what: &str,
    array: &'a Bound<'py, PyAny>,
    shape: &[Size],
) -> PyResult<&'a Bound<'py, PyArrayDyn<T>>> {
    let Ok(array) = array.cast::<PyArrayDyn<T>>() else {
        let wanted = T::get_dtype(array.py());
        let found = match array.cast::<PyUntypedArray>() {
            Ok(array) => format!("an array of {}", array.dtype()),
            Err(_) => array.get_type().name()?.to_string(),
        };
        let call = if wanted.kind() == b'f' {
            format!("; convert it with numpy.ascontiguousarray(x, numpy.{wanted})")
        } else {
            String::new()
        };
        return Err(PyTypeError::new_err(format!("{what} must be a NumPy array of {wanted}, not {found}{call}")));
    };
    let fits =
        array.shape().len() == shape.len() && array.shape().iter().zip(shape).all(|(n, wanted)| wanted.is_none_or(|w| w == *n));
    if !fits {
        let sizes = |sizes: &[Size]| -> String {
            let words: Vec<String> = sizes.iter().map(|n| n.map_or_else(|| "any".into(), |n| n.to_string())).collect();
            if words.len() == 1 { format!("({},)", words[0]) } else { format!("({})", words.join(", ")) }
        };
        let found: Vec<Size> = array.shape().iter().copied().map(Some).collect();
        return Err(wrong(format!("{what} has the shape {}, not {}", sizes(&found), sizes(shape))));
    }
    if !array.is_c_contiguous() {
        return Err(wrong(format!("{what} must be C-contiguous; pass it through numpy.ascontiguousarray")));
    }
    if !array.is_aligned() {
        return Err(wrong(format!("{what} lies at an odd address; pass a copy of it")));
    }
    Ok(array)
}

/// The numbers of an array that was checked.
pub fn numbers<'a, T: Element>(array: &'a PyReadonlyArrayDyn<'_, T>) -> &'a [T] {
    array.as_slice().expect("it was found contiguous")
}

/// The shape of an array that was found to have three axes.
pub fn sizes<T: Element>(array: &PyReadonlyArrayDyn<'_, T>) -> [usize; 3] {
    array.shape().try_into().expect("three axes were asked for")
}

/// The same, to be written.
pub fn numbers_mut<'a, T: Element>(array: &'a mut PyReadwriteArrayDyn<'_, T>) -> &'a mut [T] {
    array.as_slice_mut().expect("it was found contiguous")
}

/// Refuses numbers that are not finite.
pub fn finite<T: Copy + Into<f64>>(what: &str, numbers: &[T]) -> PyResult<()> {
    match numbers.iter().position(|&x| !x.into().is_finite()) {
        Some(at) => Err(wrong(format!("{what} holds {} (number {at}); every number must be finite", numbers[at].into()))),
        None => Ok(()),
    }
}

/// A new array that takes over the numbers.
pub fn array<'py, T: Element>(py: Python<'py>, numbers: Vec<T>, shape: &[usize]) -> Bound<'py, PyArrayDyn<T>> {
    PyArray::from_owned_array(py, ArrayD::from_shape_vec(IxDyn(shape), numbers).expect("the numbers fill the shape"))
}
