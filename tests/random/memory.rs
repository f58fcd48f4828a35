use flow_core::checkpoint::{Storage, StorageFile};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;
pub struct SimFs(Files);
struct F(Files, String);
impl StorageFile for F {
    fn write(&mut self, b: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().entry(self.1.clone()).or_default().extend_from_slice(b);
        Ok(())
    }
    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
fn nf() -> io::Error {
    io::ErrorKind::NotFound.into()
}
impl SimFs {
    pub fn new() -> Self {
        SimFs(Files::default())
    }
}
impl Storage for SimFs {
    fn create(&self, n: &str) -> io::Result<Box<dyn StorageFile>> {
        self.0.lock().unwrap().insert(n.into(), vec![]);
        Ok(Box::new(F(self.0.clone(), n.into())))
    }
    fn len(&self, n: &str) -> io::Result<u64> {
        self.0.lock().unwrap().get(n).map(|f| f.len() as u64).ok_or_else(nf)
    }
    fn read_at(&self, n: &str, at: u64, b: usize) -> io::Result<Vec<u8>> {
        let s = self.0.lock().unwrap();
        Ok(s.get(n).ok_or_else(nf)?[at as usize..at as usize + b].to_vec())
    }
    fn rename(&self, a: &str, b: &str) -> io::Result<()> {
        let mut s = self.0.lock().unwrap();
        let f = s.remove(a).ok_or_else(nf)?;
        s.insert(b.into(), f);
        Ok(())
    }
    fn remove(&self, n: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(n).map(drop).ok_or_else(nf)
    }
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.0.lock().unwrap().keys().cloned().collect())
    }
    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }
    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        static N: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let n = N.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.lock().unwrap().insert("lock".into(), format!("process 1 turn {n}\n").into_bytes());
        Ok(Box::new(()))
    }
    fn describe(&self, n: &str) -> String {
        n.into()
    }
}
